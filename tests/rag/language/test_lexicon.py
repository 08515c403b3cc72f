"""The lexicon: every entry can be used, is used, and stands in the file of its language."""

import re
import tomllib

import pytest

from rag.language.language import Language, has_chinese
from rag.language.lexicon import either
from tests.paths import ROOT

ROOM = ROOT / "rag" / "language"
LEXICA = {language: tomllib.loads((ROOM / f"{language}.toml").read_text(encoding="utf-8")) for language in Language}
ENTRIES = {(section, entry) for lexicon in LEXICA.values() for section, said in lexicon.items() for entry in said}


def test_every_entry_is_a_pattern_and_no_word_is_empty() -> None:
    """An empty word, of a comma too many, would stand in every text."""
    for section, entry in ENTRIES - {("comparison", "sides")}:  # of which one pattern is tried after the other
        re.compile(either(section, entry))
    rows = [said for lexicon in LEXICA.values() for entries in lexicon.values() for said in entries.values()]
    assert all(word.strip() for row in rows if isinstance(row, str) for word in row.split(","))
    assert all(pattern and "||" not in pattern for row in rows if isinstance(row, list) for pattern in row)


def test_every_entry_is_used() -> None:
    code = "".join(file.read_text(encoding="utf-8") for file in (ROOT / "rag").rglob("*.py"))
    words = "".join((ROOM / f"{language}.toml").read_text(encoding="utf-8") for language in Language)
    told_by_kind = {"courtesies", "intents"}  # named by the members of an enumeration
    unused = {
        (section, entry)
        for section, entry in ENTRIES
        if section not in told_by_kind and f'"{entry}"' not in code and f"'{entry}'" not in code
        if f"{{{entry}}}" not in words
    }
    assert unused == set()


def test_words_of_a_language_stand_in_its_file() -> None:
    assert not has_chinese(str(LEXICA[Language.EN]))


def test_an_entry_that_there_is_not_is_named() -> None:
    with pytest.raises(KeyError, match=r"no 'sighs' in \[courtesies\]"):
        either("courtesies", "sighs")
