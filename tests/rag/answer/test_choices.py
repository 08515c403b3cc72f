"""What a reader chooses changes how a question is answered, and nothing else."""

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from rag.answer.answerability import CALIBRATIONS, AnswerabilityFeatures, Calibration
from rag.answer.assistant import Assistant
from rag.answer.choices import MARGINS, STYLES, Caution, Choices, StyleName
from rag.answer.decide import judge
from rag.answer.quoted.choosing import ANSWER_CHARACTERS
from rag.answer.written.checked_text import CheckedText
from rag.answer.written.reply import prompt_for
from rag.errors import SettingsError
from rag.index import Index
from rag.index.part import part_of
from rag.search.retrieval import search
from rag.settings import ChatModelName
from tests.conftest import HashEmbedder
from tests.rag.library import ingest, library_settings

QUESTION = "RoPE 怎么工作，为什么能外推？"


def test_the_standard_style_is_what_is_said_without_one() -> None:
    assert STYLES[StyleName.STANDARD].characters == ANSWER_CHARACTERS
    assert STYLES[StyleName.STANDARD].cut == 1
    assert STYLES[StyleName.STANDARD].evidence == 1
    assert set(STYLES[StyleName.STANDARD].wish.values()) == {""}


def test_nothing_chosen_is_the_assistant_itself(assistant: Assistant) -> None:
    assert assistant.choosing(Choices()) is assistant


def test_a_style_says_less_or_more(tmp_path: Path, hash_embedder: HashEmbedder) -> None:
    # Each line of characters of its own, for what says the same is quoted once.
    letters = ["".join(chr(0x4E00 + 40 * line + place) for place in range(30)) for line in range(90)]
    lines = [f"RoPE 外推的要点是{text}。" for text in letters]
    ingest(tmp_path, hash_embedder, {"rope.md": f"# {QUESTION}\n\n" + "\n\n".join(lines)})
    assistant = Assistant(library_settings(tmp_path), hash_embedder)
    lengths = [
        sum(len(claim.text) for claim in assistant.choosing(Choices(style=style)).ask("RoPE 怎么工作").claims)
        for style in StyleName
    ]
    assert lengths[0] < lengths[1] < lengths[2]
    assert [length <= STYLES[style].characters for length, style in zip(lengths, StyleName, strict=True)] == [True] * 3


def test_a_model_is_told_the_style() -> None:
    def last_line(question: str, style: StyleName) -> str:
        return prompt_for(question, "m", STYLES[style], small=False)[-1][1].splitlines()[-1]

    assert last_line("为什么？", StyleName.SHORT) == "请用中文回答。 只用两三句话回答。"
    assert last_line("Why?", StyleName.STANDARD) == "Answer in English."
    assert last_line("Why?", StyleName.DEEP).startswith("Answer in English. Go into detail")


def test_the_number_of_passages(assistant: Assistant) -> None:
    assert len(assistant.choosing(Choices(top_k=2)).search(QUESTION).hits) == 2
    assert len(assistant.search(QUESTION).hits) > 2


def test_another_model_is_opened_once_and_one_that_is_not_there_is_an_error(assistant: Assistant) -> None:
    with pytest.raises(SettingsError):
        assistant.choosing(Choices(llm=ChatModelName.ENDPOINT))
    with_endpoint = assistant.settings.model_copy(
        update={"endpoint_url": "http://127.0.0.1:9/v1", "endpoint_model": "m"}
    )
    own = Assistant(with_endpoint, assistant.embedder)
    chosen = own.choosing(Choices(llm=ChatModelName.ENDPOINT))
    assert (own.llm, chosen.llm) == ("extractive", "endpoint")
    again = own.choosing(Choices(llm=ChatModelName.ENDPOINT, style=StyleName.SHORT))
    assert again._chat_model is chosen._chat_model
    assert chosen.index is own.index


def test_nobody_waits_while_a_part_is_read(assistant: Assistant, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def slow(index: Index, only: Sequence[str]) -> Index:
        begun.set()
        assert go_on.wait(60)
        return part_of(index, only)

    known = assistant.choosing(Choices(only=("zero.md",)))
    assert known.resources.index is known.resources.index
    monkeypatch.setattr("rag.answer.assistant.part_of", slow)
    with ThreadPoolExecutor(2) as pool:
        reading = pool.submit(lambda: assistant.choosing(Choices(only=("rope.md",))).resources)
        assert begun.wait(60)
        others = pool.submit(lambda: (assistant.choosing(Choices(top_k=2)).resources, known.resources))
        try:
            assert others.result(timeout=60)[0].index is assistant.index
        finally:
            go_on.set()
        assert reading.result().index.whole is assistant.index


def test_a_new_generation_is_seen_by_both(assistant: Assistant) -> None:
    chosen = assistant.choosing(Choices(top_k=3))
    assert chosen.index is assistant.index


@dataclass(frozen=True)
class Fixed(Calibration):
    """A calibration that gives one score for every question."""

    value: float = 0.0

    def log_odds(self, features: AnswerabilityFeatures) -> float:
        return self.value


@pytest.fixture
def index(library_index: Index) -> Iterator[Index]:
    """One whose embedder has a calibration."""
    name = library_index.manifest.embedder_name
    yield library_index
    CALIBRATIONS.pop(name, None)


@pytest.mark.parametrize(
    ("odds", "refused"),
    [(-3.0, ()), (-0.5, (Caution.CAUTIOUS,)), (0.5, (Caution.CAUTIOUS, Caution.BALANCED)), (3.0, tuple(Caution))],
)
def test_caution_moves_the_threshold(
    odds: float, refused: tuple[Caution, ...], index: Index, hash_embedder: HashEmbedder
) -> None:
    any_calibration = next(iter(CALIBRATIONS.values()))
    CALIBRATIONS["hash"] = Fixed(0.0, any_calibration.weights, value=odds)
    evidence = search(index, hash_embedder, QUESTION)
    assert {c for c in Caution if judge(index, evidence, margin=MARGINS[c]).refusal is not None} == set(refused)


def test_unsupported_sentences_are_marked_or_left_out(library_index: Index, assistant: Assistant) -> None:
    passages = [hit.passage for hit in assistant.search("ZeRO-2 和 ZeRO-3 差在哪？").hits]
    sources = {p.document: assistant.source(p.document) or "" for p in passages}
    text = "ZeRO-3 还切分模型参数。\n猫会爬树。\n"

    def written(*, only_supported: bool) -> str:
        writer = CheckedText(
            library_index, passages, sources, llm=ChatModelName.ENDPOINT, only_supported=only_supported
        )
        return "".join([*writer.feed(text), *writer.finish()])

    assert "猫会爬树" in written(only_supported=False)
    assert "⚠️" in written(only_supported=False)
    assert "猫" not in written(only_supported=True)
    assert "切分模型参数" in written(only_supported=True)


def test_choices_are_values() -> None:
    assert replace(Choices(), top_k=3) == Choices(top_k=3)
