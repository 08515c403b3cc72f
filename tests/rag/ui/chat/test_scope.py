"""Which documents a conversation is about: chosen, shown, kept, and never more than a name."""

from pathlib import Path

import pytest

from rag.answer.assistant import Assistant
from rag.index import Index
from rag.ui.browser_input import MOST_NAMES, NAME_CHARACTERS, names_of
from rag.ui.chat import exchange as chat
from rag.ui.chat.actions import ChatAction, act
from rag.ui.chat.messages import messages
from rag.ui.chat.strip import MaterialTitles, read_material, render_chips, render_chooser, render_offers, render_strip
from rag.ui.conversations.keeper import Keeper
from rag.ui.session.session import Session
from rag.ui.texts import TEXTS, Language
from tests.rag.ui.rooms import NASTY

QUESTION = "ZeRO-2 和 ZeRO-3 差在哪？"
ZH = TEXTS[Language.ZH]


def do(session: Session, keeper: Keeper, name: str, rest: object) -> None:
    act(session, ChatAction.read({"action": name, "number": 0, "rest": rest}), keeper)


def test_it_is_chosen_kept_and_comes_back_with_the_conversation(assistant: Assistant, tmp_path: Path) -> None:
    keeper, session = Keeper(tmp_path / "user"), Session(user="")
    assert list(chat.answer(assistant, session, "LoRA 为什么能省显存？", keeper))
    do(session, keeper, "about", "zero.md")
    assert (session.exchanges, session.only) == ([], ("zero.md",))  # what was said of others is no context
    assert list(chat.answer(assistant, session, QUESTION, keeper))
    (exchange,) = session.exchanges
    assert exchange.answer is not None
    assert {citation.document for citation in exchange.answer.citations} == {"zero.md"}
    other = Session(user="")
    keeper.open(other, session.conversation or 0)
    assert other.only == ("zero.md",)
    do(other, keeper, "scope", "rope.md")
    do(other, keeper, "scope", "rope.md")
    do(other, keeper, "unscope", "zero.md")
    assert other.only == ("rope.md",)
    assert list(chat.answer(assistant, other, "Zyxwv-77 的 ZeRO 阈值？", keeper))
    assert ZH.refused_only in messages(other)[-1]["content"]
    do(other, keeper, "new", "")
    assert not other.only
    keeper.close()


@pytest.mark.parametrize("values", [None, "zero.md", 3, {"a": 1}, [None, 3, "", "x" * (NAME_CHARACTERS + 1)]])
def test_what_is_no_list_of_names_chooses_nothing(values: object) -> None:
    assert names_of(values) == ()


def test_no_more_than_so_many_are_chosen() -> None:
    assert len(names_of([f"{number}.md" for number in range(100)])) == MOST_NAMES


@pytest.mark.parametrize("language", Language)
def test_names_are_never_html(language: Language) -> None:
    material = MaterialTitles({NASTY: NASTY}, {f"{NASTY}/": dict.fromkeys(Language, NASTY)})
    only = (NASTY, f"{NASTY}/", f"gone {NASTY}")
    for html in (render_chips(only, material, language), render_chooser(only, [NASTY], material, language)):
        assert "<img" not in html
        assert "&lt;img" in html
    assert "<img" not in render_strip(Session(language=language, only=only), material)


def test_what_is_typed_behind_a_sign_offers_what_it_may_name() -> None:
    topics = {"lora/": {Language.ZH: "微调", Language.EN: "Tuning"}}
    material = MaterialTitles(
        {"lora/qlora.md": "QLoRA 怎么省显存？", "b.md": "别的"}, topics, {"b.md": "How is memory saved?"}
    )
    assert material.matching("") == ["lora/", "lora/qlora.md", "b.md"]
    assert (material.matching("TUN"), material.matching("ＱＬｏＲＡ"), material.matching("memory")) == (
        ["lora/"], ["lora/qlora.md"], ["b.md"]
    )  # fmt: skip
    html = render_offers("memory", material, Language.EN)
    assert 'data-words="memory"' in html
    assert 'data-rest="b.md" aria-selected="true">How is memory saved?<' in html
    assert "<button" not in render_offers(NASTY, material, Language.ZH)
    assert "<img" not in render_offers(NASTY, MaterialTitles({NASTY: NASTY}), Language.ZH)


def test_topics_are_named_in_both_languages(library_index: Index) -> None:
    material = MaterialTitles({"a.md": "标题"}, {"lora/": {Language.ZH: "微调", Language.EN: "Tuning"}})
    assert [material.title("lora/", language) for language in (Language.ZH, Language.EN)] == ["微调", "Tuning"]
    assert (material.title("a.md", Language.EN), material.title("gone/", Language.EN)) == ("标题", "gone")
    assert "zero.md" in read_material(library_index).documents
