"""Both languages say the same things."""

import string
from dataclasses import fields

import pytest

from rag.ui.texts import TEXTS, Language, Texts, language_of


def placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


def test_every_language_has_texts() -> None:
    assert set(TEXTS) == set(Language)


@pytest.mark.parametrize("name", [field.name for field in fields(Texts)])
def test_texts_are_there_and_take_the_same_values(name: str) -> None:
    chinese, english = (getattr(TEXTS[language], name) for language in (Language.ZH, Language.EN))
    assert chinese
    assert english
    assert placeholders(chinese) == placeholders(english)


def test_english_texts_hold_no_chinese() -> None:
    for field in fields(Texts):
        text = getattr(TEXTS[Language.EN], field.name)
        assert not any("\u3400" <= character <= "\u9fff" for character in text), field.name


@pytest.mark.parametrize(
    ("header", "language"),
    [
        ("zh-CN,zh;q=0.9,en;q=0.8", Language.ZH),
        ("zh-TW", Language.ZH),
        ("en-GB,en;q=0.9,zh;q=0.8", Language.EN),
        ("de", Language.EN),
        ("", Language.ZH),
        ("*", Language.ZH),
    ],
)
def test_language_of_the_browser(header: str, language: Language) -> None:
    assert language_of(header) is language
