"""How likely it is that people wrote a text: the same bytes read in a wrong encoding are unlikely.

Each character that ASCII lacks counts with the logarithm of its frequency in a language, each one of ASCII with a fixed
value. Likelihoods of readings of the same bytes can be compared, because each accounts for all bytes.
"""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache

ASCII = -3.0
# A character that is not used in the language; one that is used in no text; a byte without a character.
FOREIGN, NEVER, LOST = -15.0, -20.0, -16.0
# A capital, or a letter that its language does not use, within a word.
CAPITAL_WITHIN, MIXED_WITHIN = -6.0, -5.0
TYPOGRAPHY = "’“”–—‘…°€«»„·×±µ©®£²³§½¼¾•™‹›÷ºª‚´¡¿"
CHINESE_SIGNS = "，。、：；？！（）“”《》…—·【】「」『』〈〉％～　０１２３４５６７８９×→≥≤±‘’"
JAPANESE_SIGNS = "、。「」・（）ー：！？『』【】　～…“”０１２３４５６７８９々〜＝／＋−％→×"
ASCII_LETTER, LOWER = "[A-Za-z]", "[a-z]"
IDEOGRAPH = r"[\u3400-\u9fff\uac00-\ud7a3]"
# The characters of texts, the most frequent ones first; the Chinese ones in both scripts, the simplified ones first.
CHINESE = (
    "的一是在不了有和人这中大为上个国我以要他时来用们生到作地于出就分对成会可主发年动同工也能下过子说产种面而"
    "方后多定行学法所民得经十三之进着等部度家电力里如水化高自二理起小物现实加量都两体制机当使点从业本去把性好"
    "应开它合还因由其些然前外天政四日那社义事平形相全表间样与关各重新线内数正這爲個國時來們於對會發動過說產種"
    "後學經進電裏現實兩體機當點從業應開還義間樣與關線內數"
)
# The next most frequent ones.
CHINESE_MORE = (
    "心反你明看原又么利比或但质气第向道命此变条只没结解问意建月公无系军很情者最立代想已通并提直题党程展五果料"
    "象员革位入常文总次品式活设及管特件长求老头基资边流路级少图山统接知较将组见计别她手角期根论运农指几九区强"
    "放决西被干做必战先回则任取据处队南给色光门即保治北造百规热领七海口东导器压志世金增争济阶油思术极交受联什"
    "认六共权收证改清己美再采转更单风切打白教速花带安场身车例真务具万每目至达走积示议声报斗完类八离华名确才科"
    "张信马节话米整空元况今集温传土许步群广石记需段研界拉林律叫且究观越织装影算低持音众书布复容儿须际商非验连"
    "断深难近矿千周委素技备半办青省列习响约支般史感劳便团往酸历市克何除消构府称太准精值号率族维划选标写存候毛"
    "亲快效斯院查江型眼王按格养易置派层片始却专状育厂京识适属圆包火住调满县局照参红细引听该铁价严模训练码误输"
    "差怎答梯块注测失卡序推检预字损均错换显索优让配缩态随编归逐减限核偏词判乘降激档概哪矩倍缓掉语略读留阵句评"
    "负排微励奖否批案试策项网默仍请麼質氣變條沒結問無軍並題黨員總設長頭資邊級圖統較將組見計別論運農幾區強決幹"
    "戰則據處隊給門規熱領東導壓爭濟階術極聯認權證採轉單風帶場車務萬達積議聲報鬥類離華確張馬節話況溫傳許羣廣記"
    "觀織裝衆書覆兒須際驗連斷難礦備辦習響約勞團歷構稱準號維劃選標寫親養層卻專狀廠識適屬圓調滿縣參紅細聽該鐵價"
    "嚴訓練碼誤輸塊測檢預損錯換顯優讓縮態隨編歸減詞檔緩語讀陣評負勵獎試項網請"
)
KANJI = (
    "日一国人年大十二本中長出三時行見月分後前生五間上東四今金九入学高円子外八六下来気小七話女北午百書先名川千"
    "水半男電校語土木聞食車何南万毎白天母火右読友左休父会同事自社発者地業方新場員立開手力問代明動京目通言理体"
    "田主題意不作用度強公持野以思家世多正安院心界教文元重近考画海知道集別物使品計特私始朝運終台広住無真有口少"
    "町料工建空急止送切転研足究楽起着店病質待試族銀早映親験英仕去味写字答夜音注帰古歌買悪図週室歩風紙黒花春赤"
    "青館屋色走習駅旅服借肉量化精数表推論速容減最適性能算処結果法定関連対全部相成現要実内当加機政経済取信市合"
    "平和次原的制点回支解式保利情報必期調設置変更認確可比較例値単位基準種類向層列線形検索並番号接続器指示参照"
    "項規則格納得失敗構造記録低深差率約束団再状像声評価改善"
)
HIRAGANA = (
    "のにはをたがでてとしれさるいなもからこりあうくすきよまっんだえけそせどみわつめやちろげずじばびべごおぐひ"
    "ねぬほゆむふへぶぎぼぞぜぱぷぺぽぴゃゅょぁぃぇぉざづ"
)
HANGUL = (
    "이다는을의에가고지기하한로도를인어사자시서나아리그들과라대해정있은일수안전게만부보여상제주원거장적조성스"
    "공연구면것세화모실유교국중경동선문음생신방우진니비무분관당내트미오개소발회마까계데였없않물간단려때말명년"
    "재었등습던합될된되할함및준번치형입출결처감높낮더또같와건글설학델량밀율속값크작업층표현변환저최용양산추론"
    "필요메터파블록코드버따른통찰"
)
CYRILLIC = "оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъёіїєґ"
GREEK = "αοιετσνηυρπκμλςόίωάδγέήθύχφβώξζψϊΐϋΰ"
HEBREW = "יוהלאתרבםמשנעקחדפזטגסכצךןףץ"
ARABIC = "اليمنتربوعدسفهكقحةجىأإشصطخضزثذغءئظؤآ"
# The letters of each language that ASCII lacks.
LATIN = {
    "French": "éèàêçùâîôûëïœæ",
    "German": "äüößé",
    "Spanish": "óíáéñúü¿¡",
    "Portuguese": "ãçéáíóêõàúâô",
    "Italian": "èàòùéì",
    "Catalan": "àóéíçèòúïü·",
    "Swedish, Finnish": "äåöé",
    "Danish, Norwegian": "øåæé",
    "Dutch": "ëéèïöüó",
    "Icelandic": "áíóéöðúþæý",
    "Polish": "łęąóżśćńź",
    "Czech, Slovak": "íáéěřčšžýůúťňďôľĺŕä",
    "Hungarian": "áéöóőüíúű",
    "Croatian, Slovene, Serbian": "čšžćđ",
    "Romanian": "ăîâşţșț",
    "Turkish": "ıüşğöçâîİ",
    "Baltic": "āīēšžūļčņķģėųįąęõäöü",
    "Vietnamese": "đăâêôơưáàảãạéèíóòúùý",
}


@dataclass(frozen=True, slots=True)
class Language:
    """`letters` are the likelihoods of its characters, `others` gives that of any other character."""

    name: str
    letters: Mapping[str, float]
    others: Callable[[str], float]
    within: re.Pattern[str] | None = None
    penalty: float = 0.0

    def likelihood(self, text: str) -> float:
        counts = Counter(text)
        total = sum(count * self._of(character) for character, count in counts.items())
        return total + (self.penalty * sum(1 for _ in self.within.finditer(text)) if self.within else 0.0)

    def _of(self, character: str) -> float:
        if character.isascii():
            return ASCII if character.isprintable() or character in "\t\r\n" else NEVER
        if character == "\ufffd":
            return LOST
        known = self.letters.get(character)
        if known is not None:
            return known
        kind = unicodedata.category(character)
        return NEVER if kind in ("Cc", "Cn", "Co", "Cs") else max(FOREIGN, self.others(character))


@cache
def languages() -> tuple[Language, ...]:
    return (_chinese(), _japanese(), _korean(), *_alphabets(), *map(_latin, LATIN))


def _spread(characters: Iterable[str], share: float) -> dict[str, float]:
    """The likelihood of each character in a group that makes up a share of the text."""
    found = dict.fromkeys(characters)
    return dict.fromkeys(found, math.log(share / max(1, len(found))))


def _ranked(characters: str, share: float) -> dict[str, float]:
    """The same for a group with the most frequent characters first."""
    weights = [1 / (place + 5) for place in range(len(characters))]
    return {one: math.log(share * weight / sum(weights)) for one, weight in zip(characters, weights, strict=True)}


def _rows(codec: str, first: int, last: int) -> str:
    """The characters in these rows of a two-byte standard; the common ones have rows of their own."""
    pairs = (bytes((lead, trail)) for lead in range(first, last + 1) for trail in range(0xA1, 0xFF))
    return "".join(pair.decode(codec, "ignore") for pair in pairs)


def _big5_common() -> str:
    trails = [*range(0x40, 0x7F), *range(0xA1, 0xFF)]
    pairs = (bytes((lead, trail)) for lead in range(0xA4, 0xC7) for trail in trails)
    return "".join(pair.decode("big5", "ignore") for pair in pairs)


def _chinese() -> Language:
    common = _spread(_rows("gb2312", 0xB0, 0xD7) + _big5_common(), 0.14)
    letters = {
        **_spread(_rows("gb2312", 0xD8, 0xF7), 0.003), **common, **_ranked(CHINESE_MORE, 0.38),
        **_ranked(CHINESE, 0.35), **_ranked(CHINESE_SIGNS, 0.12),
    }  # fmt: skip
    return Language("Chinese", letters, lambda character: _sign(character, -9.0), _between_letters(), MIXED_WITHIN)


def _japanese() -> Language:
    katakana = "".join(chr(code) for code in range(0x30A1, 0x30FB))
    letters = {
        **_spread(_rows("euc_jp", 0xD0, 0xF4), 0.003), **_spread(_rows("euc_jp", 0xB0, 0xCF), 0.08),
        **_ranked(KANJI, 0.2), **_ranked(HIRAGANA, 0.45), **_spread(katakana, 0.15), **_ranked(JAPANESE_SIGNS, 0.1),
    }  # fmt: skip
    return Language("Japanese", letters, lambda character: _sign(character, -9.0), _between_letters(), MIXED_WITHIN)


def _korean() -> Language:
    letters = {
        **_spread(_rows("euc_kr", 0xCA, 0xFD), 0.002), **_spread(_rows("euc_kr", 0xB0, 0xC8), 0.2),
        **_ranked(HANGUL, 0.75), **_spread("·…“”‘’「」『』※→×", 0.01),
    }  # fmt: skip
    return Language("Korean", letters, lambda character: _sign(character, -11.0), _between_letters(), MIXED_WITHIN)


def _between_letters() -> re.Pattern[str]:
    """A lone ideograph beside or within a word of letters."""
    alone = f"(?<!{IDEOGRAPH}){IDEOGRAPH}(?!{IDEOGRAPH})"
    return re.compile(f"(?<={LOWER}){alone}|{alone}(?={LOWER})")


def _sign(character: str, likelihood: float) -> float:
    """Signs are rare in any text, letters of other languages rarer."""
    return likelihood if unicodedata.category(character)[0] in "PSZN" else FOREIGN


def _alphabets() -> Iterable[Language]:
    """Languages whose letters are not Latin: each letter belongs among others of its alphabet."""
    for name, letters in (("Cyrillic", CYRILLIC), ("Greek", GREEK), ("Hebrew", HEBREW), ("Arabic", ARABIC)):
        known = _ranked(letters, 0.9)
        capitals = {
            one.upper(): likelihood - 3
            for one, likelihood in known.items()
            if one.upper() != one and len(one.upper()) == 1
        }
        yield _alphabet(name, "".join(known), "".join(capitals), capitals | known)
    thai = "".join(map(chr, range(0xE01, 0xE4F)))
    yield _alphabet("Thai", thai, "", _spread(thai, 0.9))


def _alphabet(name: str, small: str, capitals: str, known: Mapping[str, float]) -> Language:
    """A language with its own alphabet. A capital within a word is misread, and so is a letter beside a Latin one."""
    own = f"[{small}{capitals}]"
    within = f"(?<={ASCII_LETTER}){own}|{own}(?={ASCII_LETTER})" + (f"|(?<=[{small}])[{capitals}]" if capitals else "")
    letters = {**_ranked(TYPOGRAPHY + "№،؛؟", 0.03), **known}
    return Language(name, letters, lambda character: _sign(character, -10.0), re.compile(within), MIXED_WITHIN)


def _latin(name: str) -> Language:
    """A language of Latin letters, most of which are ASCII."""
    known = _ranked(LATIN[name], 0.05)
    capitals = {one.upper(): value - 3 for one, value in known.items() if len(one.upper()) == 1 and one.upper() != one}
    # A sign, a capital or a foreign letter within a word is a misread letter, and so is a lone one.
    within = re.compile(
        rf"(?<={LOWER})[^\W\d_A-Za-z{''.join(known)}](?={LOWER})"
        r"|(?<=[^\W\d_])[²³°±µ¿¡§©®¹º¶¬¦¨¸¤¼½¾×÷](?=[^\W\d_])"
        r"|(?<!\w)[^\W\d_A-Za-zàáâåæèéìíòóôöøùúº²³µ](?!\w)"
    )
    letters = _ranked(TYPOGRAPHY, 0.03) | capitals | known
    return Language(name, letters, _other_latin, within, CAPITAL_WITHIN)


def _other_latin(character: str) -> float:
    """The likelihood of a letter of another language, as in names, or of a sign."""
    if unicodedata.name(character, "").startswith("LATIN "):
        return -9.0 if character.islower() else -10.5
    return _sign(character, -9.0)
