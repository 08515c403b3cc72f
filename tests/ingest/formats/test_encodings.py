"""Bytes in every encoding come out as the text that went in, or are refused with a word: never as another text."""

import random
from contextlib import suppress

import pytest

from ingest.formats.encoding import decoded
from ingest.formats.extract import UnreadableError

JAPANESE = "量子化とは、重みを低い精度の整数で表すことです。メモリの使用量が減り、推論が速くなります。"
KOREAN = "양자화는 가중치를 낮은 정밀도의 정수로 저장하는 방법이다. 메모리 사용량이 줄고 추론이 빨라진다."
CHINESE = "混合精度训练用半精度计算，用单精度保存主权重。"
TRADITIONAL = "混合精度訓練用半精度計算，用單精度保存主權重。"
FRENCH = "L'apprentissage par transfert réutilise un modèle pré-entraîné, déjà initialisé à partir de données."
GERMAN = "Die Größe des Modells überschreitet den verfügbaren Speicher, daher wird das Netz verkürzt."
POLISH = "Kwantyzacja zapisuje wagi mniejszą liczbą bitów. Zużywa mniej pamięci, a wnioskowanie jest szybsze."
RUSSIAN = "Квантование весов хранит числа с низкой точностью. Памяти нужно меньше, а вывод быстрее."

SURE = [
    ("euc_jp", JAPANESE), ("cp932", JAPANESE), ("iso2022_jp", JAPANESE), ("cp949", KOREAN), ("gb18030", CHINESE),
    ("gb18030", TRADITIONAL), ("big5", TRADITIONAL), ("cp1252", FRENCH), ("latin_1", GERMAN), ("cp1251", RUSSIAN),
    ("koi8_r", RUSSIAN), ("utf_16_le", CHINESE), ("utf_16_be", CHINESE), ("utf_16_le", FRENCH), ("utf_16_be", KOREAN),
    ("utf_32_le", CHINESE), ("utf_16", JAPANESE), ("utf_32", FRENCH), ("utf_8_sig", CHINESE), ("iso8859_2", POLISH),
    ("gb18030", "推理服务的端口"), ("euc_jp", "日本語の文章です。"), ("cp949", "안녕하세요"),
    ("cp1252", "Résumé du café."),
    ("cp1252", "smart “quotes” and a dash – so"), ("cp1252", "L’été à Noël"), ("cp1251", "Модель обучается быстро."),
]  # fmt: skip


@pytest.mark.parametrize(("encoding", "text"), SURE, ids=lambda value: value[:12])
@pytest.mark.parametrize("around", ["{}", "# x\n\n{}\n\nplain ASCII\n"])
def test_what_is_read(encoding: str, text: str, around: str) -> None:
    text = around.format(text)
    if encoding == "iso2022_jp" and not around.startswith("#"):
        pytest.skip("its last sequence switches back")
    assert decoded(text.encode(encoding))[0] == text


SHORT = [
    ("cp1252", ["é", "Señor", "25 °C ± 2", "Über", "coût 5 €", "naïve", "ação", "Ångström", "5 µm"]),
    ("gb18030", ["的", "参数", "模型", "量化", "联通", "东京", "低秩适配", "你好"]),
    ("big5", ["測試", "資料庫", "量化", "你好"]),
    ("euc_jp", ["モデル", "メモリ", "学習率", "東京"]),
    ("cp932", ["ﾃｽﾄ", "モデル", "学習率"]),
    ("cp949", ["모델", "학습률", "메모리"]),
    ("cp1251", ["нет", "Привет"]),
    ("cp1250", ["Időszak és győzelem", "Zażółć gęślą jaźń"]),
    ("cp1255", ["שלום עולם"]),
    ("cp1256", ["مرحبا بالعالم"]),
    ("cp874", ["สวัสดี"]),
]  # fmt: skip


@pytest.mark.parametrize(("encoding", "text"), [(encoding, text) for encoding, texts in SHORT for text in texts])
def test_a_few_letters_are_never_another_text_in_silence(encoding: str, text: str) -> None:
    with suppress(UnreadableError):
        found, warnings = decoded(text.encode(encoding))
        assert found == text or warnings


def page(charset: str, body: str) -> str:
    return f'<html><head><meta charset="{charset}"><title>x</title></head><body><p>{body}</p></body></html>'


@pytest.mark.parametrize(
    ("charset", "encoding", "text"),
    [
        ("euc-jp", "euc_jp", "量子化"), ("EUC-KR", "cp949", "모델"), ("gb2312", "gb18030", "訓練"),
        ("big5", "big5", "測試"),
        ("shift_jis", "cp932", "学習率"), ("iso-8859-1", "cp1252", "coût 5 €"), ("windows-1251", "cp1251", "нет"),
        ("iso-8859-2", "iso8859_2", "żółć"), ("windows-1255", "cp1255", "שלום"), ("utf-8", "utf-8", "é"),
        ("utf-16", "utf-8", "é"), ("windows-1257", "cp1257", "mažėja"), ("x-unheard-of", "gb18030", CHINESE),
    ],
)  # fmt: skip
def test_the_page_says_what_it_is_in(charset: str, encoding: str, text: str) -> None:
    whole = page(charset, text)
    assert decoded(whole.encode(encoding), declares=True)[0] == whole
    xml = f'<?xml version="1.0" encoding="{charset}"?><html><body><p>{text}</p></body></html>'
    assert decoded(xml.encode(encoding), declares=True)[0] == xml


@pytest.mark.parametrize(("encoding", "text"), [("gb18030", CHINESE), ("cp949", KOREAN), ("euc_jp", JAPANESE)])
def test_a_declaration_that_is_wrong_is_told(encoding: str, text: str) -> None:
    whole = page("iso-8859-1", text)
    found, warnings = decoded(whole.encode(encoding), declares=True)
    assert found == whole
    assert "declares iso-8859-1" in warnings[0]


def test_what_a_text_quotes_of_a_page_declares_nothing() -> None:
    text = f'例：<meta charset="euc-kr">\n{CHINESE}\n'
    assert decoded(text.encode("gb18030")) == (text, ())


def test_a_damaged_byte_is_replaced_and_told_with_its_line() -> None:
    data = f"# 题\n\n{CHINESE}\n{CHINESE}\n".encode()
    place = data.index("半".encode())
    found, warnings = decoded(data[:place] + data[place + 1 :])
    assert found == f"# 题\n\n{CHINESE}\n{CHINESE}\n".replace("半", "\ufffd\ufffd", 1)
    assert warnings == ("line 3: bytes that are not UTF-8 were replaced by \ufffd",)
    cut = f"{CHINESE}\n".encode() * 20 + "末".encode()[:2]
    assert decoded(cut)[1] == ("line 21: bytes that are not UTF-8 were replaced by \ufffd",)


def test_a_damaged_byte_in_another_encoding() -> None:
    data = (f"{CHINESE}\n" * 10).encode("gb18030")
    found, warnings = decoded(data + b"\xff\n" + data)
    assert found.replace("\ufffd", "").split() == [CHINESE] * 20
    assert warnings == ("line 11: bytes that are not GB18030 were replaced by \ufffd",)


def test_lines_in_another_encoding_than_the_rest() -> None:
    data = f"# 题\n\n{CHINESE}\n".encode() + f"{CHINESE}\n".encode("gb18030")
    assert decoded(data) == (
        f"# 题\n\n{CHINESE}\n{CHINESE}\n", ("line 4: in another encoding than the rest (GB18030), and read as such",)
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(5))
def test_chance_is_no_text(seed: int) -> None:
    chance = random.Random(seed)
    for least, most in ((32, 256), (128, 256), (0, 256)):
        with pytest.raises(UnreadableError):
            decoded(bytes(chance.randrange(least, most) for _ in range(3_000)))


def test_a_large_file_is_looked_at_in_part() -> None:
    text = "plain words\n" * 100_000 + f"{CHINESE}\n"
    assert decoded(text.encode("gb18030"))[0] == text
