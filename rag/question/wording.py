"""A question as typed -> the same question in the material's words.

Phrases around it are dropped ("要是被问到…该怎么说"). Unknown words are replaced by a word of the material that is
written together (flash attention), spelt nearly so, sounds alike (touji jiema, 投机解马), or means the same in the
other language.
"""

import re

from rapidfuzz import process
from rapidfuzz.distance import OSA

from rag.index import Index
from rag.index.vocabulary import MaterialVocabulary, Sounds, pinyin
from rag.language.language import has_chinese
from rag.language.messages import plainly_for_code, unwrapped, without_manner
from rag.language.terms import CHINESE_RUN, fold, simplified, terms
from rag.question.names import TYPOS

LATIN_WORDS = re.compile(r"[A-Za-z]+(?: +[A-Za-z]+)*")
LATIN_WORD = re.compile(r"[A-Za-z]+")
APART = re.compile(r"[A-Za-z]{2,}(?:[ -][A-Za-z]{2,})+")
# A shorter name may be two words that happen to stand side by side.
SHORTEST_JOINED = 6
# Shorter runs sound like too many other words.
SHORTEST_SOUND = 5
# The shape of every row of pinyin syllables; few English words have it. Possessive, so that no letter is tried twice.
LIKE_PINYIN = re.compile(r"(?:(?:[zcs]h|[bpmfdtnlgkhjqxrzcsyw])?[aeiouv]++(?:ng|n|r)?+)++", re.IGNORECASE)
# Homophones are sought in pieces of this many characters, the longest first.
PIECES = (4, 3, 2)
# A name in capitals is not a misspelling, unless its letters are only swapped: RetNet is not ResNet, QLoAR is QLoRA.
LOWER = re.compile(r".[a-z]+")
# A piece is replaced only by a name's word that is at least this common.
COMMON = 5
# Characters that join words rather than make them.
JOINING = set("的地得了是在有和与么怎哪这那不大小多少一")
# The material does not use a term if its translation is in more passages by this factor.
RARER = 3


def in_the_materials_words(index: Index, question: str) -> str:
    """The question in the material's words as far as possible; else unchanged."""
    vocabulary = index.vocabulary
    text = plainly_for_code(unwrapped(without_manner(question)))
    text = LATIN_WORDS.sub(lambda match: _spoken(index, match[0]), text)
    text = APART.sub(lambda match: _joined(vocabulary, match[0]), text)
    text = LATIN_WORD.sub(lambda match: _respelt(index, vocabulary, match[0]), text)
    text = re.sub(CHINESE_RUN, lambda match: _homophones(index, vocabulary, match[0]), text)
    if not has_chinese(text) and index.manifest.writes(chinese=False):
        return text  # an added Chinese word would make the question, and its answer, Chinese
    return _with_translations(index, vocabulary, text)


def _spoken(index: Index, run: str) -> str:
    """Latin words as the Chinese words that they spell out; other pinyin among them is dropped."""
    words = run.split()
    written: list[str] = []
    place, found = 0, False
    while place < len(words):
        for end in range(len(words), place, -1):
            letters = "".join(words[place:end])
            is_term = end == place + 1 and index.keywords.frequency(fold(words[place]))
            may_sound = len(letters) >= SHORTEST_SOUND and not is_term and LIKE_PINYIN.fullmatch(letters)
            chinese = _chinese(letters.lower(), index.sounds) if may_sound else ""
            if chinese:
                written.append(chinese)
                place, found = end, True
                break
        else:
            written.append(words[place])
            place += 1
    if not found:
        return run
    return " ".join(word for word in written if not _is_noise(index, word))


def _chinese(letters: str, sounds: Sounds) -> str:
    """The words of names that the letters spell out in a row; empty if they do not."""
    if len(letters) < SHORTEST_SOUND:
        return ""
    for end in range(len(letters), SHORTEST_SOUND - 1, -1):
        word = sounds.words.get(letters[:end])
        if word:
            rest = _chinese(letters[end:], sounds) if end < len(letters) else ""
            if rest or end == len(letters):
                return word + rest
    return ""


def _is_noise(index: Index, word: str) -> bool:
    """Whether a word beside pinyin is pinyin too, but not of a name."""
    if not word.isascii() or index.keywords.frequency(fold(word)):
        return False
    return _in_syllables(word.lower(), index.sounds.syllables)


def _in_syllables(letters: str, syllables: frozenset[str]) -> bool:
    return not letters or any(
        letters[:end] in syllables and _in_syllables(letters[end:], syllables)
        for end in range(1, min(6, len(letters)) + 1)
    )


def _joined(vocabulary: MaterialVocabulary, run: str) -> str:
    """Latin words, joined where a name writes them together: flash-attention is FlashAttention."""
    written, *rest = re.split(r"([ -])", run)
    for gap, word in zip(rest[::2], rest[1::2], strict=True):
        last = LATIN_WORD.findall(written)[-1]
        joined = (last + word).lower()
        if len(joined) >= SHORTEST_JOINED and vocabulary.words[joined]:
            written = written[: -len(last)] + vocabulary.spellings[joined]
        else:
            written += gap + word
    return written


def _respelt(index: Index, vocabulary: MaterialVocabulary, word: str) -> str:
    """The name's word that an unknown word misspells; the word itself if there is none."""
    folded = word.lower()
    wrong = next((letters for length, letters in TYPOS if len(folded) >= length), 1 if len(folded) >= 5 else 0)
    if not wrong or index.keywords.frequency(folded):
        return word
    alike = process.extract(folded, index.keywords.latin_terms, scorer=OSA.distance, score_cutoff=wrong, limit=20)
    usable = [
        (distance, -index.keywords.frequency(term), term)
        for term, distance, _ in alike
        if term[0] == folded[0]
        and vocabulary.words[term]
        and term + "s" != folded
        and (sorted(term) == sorted(folded) or (LOWER.fullmatch(word) and len(folded) >= 6))
    ]
    return vocabulary.spellings[min(usable)[2]] if usable else word


def _homophones(index: Index, vocabulary: MaterialVocabulary, run: str) -> str:
    """Chinese text with wrong characters corrected: pieces that no passage contains, and that sound like a word of a
    name with which they share a character."""
    text = simplified(run)
    for length in PIECES:
        place = 0
        while place + length <= len(text):
            piece = text[place : place + length]
            if not vocabulary.words[piece] and _is_unknown(index, piece):
                word = index.sounds.words.get("".join(pinyin(piece)), "")
                wrong = {typed for typed, right in zip(piece, word, strict=False) if typed != right}
                # 生成是什么 does not mean 生成式.
                alike = len(word) == length and set(word) & set(piece) and not JOINING & wrong
                if alike and _is_common(vocabulary, word):
                    text = text[:place] + word + text[place + length :]
            place += 1
    return run if text == simplified(run) else text


def _is_common(vocabulary: MaterialVocabulary, word: str) -> bool:
    return vocabulary.words[word] >= COMMON and not JOINING & set(word)


def _is_unknown(index: Index, chinese: str) -> bool:
    """Whether some adjacent pair of characters occurs nowhere."""
    return any(not index.keywords.frequency(chinese[place : place + 2]) for place in range(len(chinese) - 1))


def _with_translations(index: Index, vocabulary: MaterialVocabulary, question: str) -> str:
    """The question with a translation after each term that the material writes otherwise, or in place of a Chinese term
    that occurs in at most one passage."""
    text, added = question, list[str]()
    folded = simplified(text).lower()
    for term, other in vocabulary.translations.items():
        if term not in folded:
            continue
        edges = (r"(?<![a-z0-9])", r"(?![a-z0-9])") if term.isascii() else ("", "")
        found = re.search(re.escape(term).join(edges), folded)
        if not found or other.lower() in folded or _uses(index, other) <= RARER * _uses(index, term):
            continue
        if term.isascii() or _uses(index, term) > 1 or len(folded) != len(text):
            added.append(other)
        else:
            text = f"{text[: found.start()]} {other} {text[found.end() :]}".strip()
            folded = simplified(text).lower()
    return " ".join([text, *added])


def _uses(index: Index, term: str) -> int:
    """An upper bound on the passages with a term, by its rarest part."""
    return min((index.keywords.frequency(part) for part in terms(term)), default=0)
