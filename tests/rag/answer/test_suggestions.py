"""What can be asked instead: of the same subject, or nothing at all."""

from dataclasses import replace

import pytest

import rag.answer.decide as deciding
from rag.answer.assistant import Assistant
from rag.answer.suggestions import SUGGESTIONS, near, suggest
from rag.index import Index
from rag.language.courtesy import Courtesy
from rag.language.messages import courtesy
from rag.search.retrieval import search
from rag.text.mapped import MappedText
from tests.conftest import HashEmbedder


def test_suggestions_are_questions_that_the_material_answers(library_index: Index, hash_embedder: HashEmbedder) -> None:
    suggestions = suggest(library_index, search(library_index, hash_embedder, "LoRA 和 GRPO"))
    titles = {d.title for d in library_index.storage.documents()}
    passages = library_index.storage.passages(range(library_index.manifest.passages))
    sections = {name for passage in passages for name in passage.section}
    assert 1 <= len(suggestions) <= SUGGESTIONS
    assert len(set(suggestions)) == len(suggestions)
    for suggestion in suggestions:
        assert suggestion in titles | sections
        assert suggestion.endswith(("?", "？"))


@pytest.mark.parametrize(
    ("question", "heading", "is_of_it"),
    [
        ("今天晚上吃什么好", "今天的大模型和 2017 年的差在哪？", False),
        ("今天晚上吃什么好", "LLM 应用上线后怎么观测？", False),
        ("我女朋友生气了怎么办", "对方坚持全都要怎么办？", False),
        ("what should I cook tonight", "What should I read in a week?", False),
        ("LoRA 一作的导师是谁", "LoRA 是怎样微调大模型的？", True),
        ("lora 一作的导师是谁", "What does LoRA change?", True),
        ("知识蒸馏的发明人住哪", "知识蒸馏为什么要温度？", True),
    ],
)
def test_a_suggestion_shares_what_the_question_names(
    question: str, heading: str, is_of_it: bool, library_index: Index, hash_embedder: HashEmbedder
) -> None:
    """Whatever is found, for something is the nearest to any question."""
    found = search(library_index, hash_embedder, question)
    hit = found.hits[0]
    named_so = replace(hit, passage=replace(hit.passage, section=(heading,)))
    assert suggest(library_index, replace(found, hits=(named_so,))) == ((heading,) if is_of_it else ())
    # A passage that says only this is near where its heading is.
    said_so = replace(hit, passage=replace(hit.passage, title="", section=(), content=MappedText(heading, ())))
    assert bool(near(library_index, replace(found, hits=(said_so,))).hits) is is_of_it


@pytest.mark.parametrize("question", ["今天晚上吃什么好", "What is for dinner tonight?"])
def test_a_refusal_without_suggestions_says_how_to_see_the_topics(
    question: str, assistant: Assistant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deciding, "log_odds_of", lambda index, features: 9.0)
    answer = assistant.ask(question)
    assert answer.refusal is not None
    assert answer.refusal.suggestions == ()
    way_in = answer.text.split("\n\n")[1]
    asked = way_in[way_in.index("“") + 1 : way_in.index("”")]
    assert courtesy(asked) is Courtesy.ABILITIES
    assert "\n" not in way_in
