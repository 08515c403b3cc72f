"""The inspector shows what the search and the answer really did."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from pydantic import SecretStr

from rag.answer.assistant import Assistant
from rag.answer.choices import Choices
from rag.answer.inspection import Inspection, as_text, inspection_of
from rag.embedding import Encoded
from rag.errors import UsageError
from rag.index import Index
from rag.search import retrieval
from rag.settings import ChatModelName
from rag.types import Role, Turn

QUESTION = "ZeRO-2 和 ZeRO-3 差在哪？"


def inspect(assistant: Assistant, question: str, history: Sequence[Turn] = ()) -> Inspection:
    return inspection_of(assistant.prepare(question, history))


def test_the_ranking_is_that_of_the_search(assistant: Assistant) -> None:
    inspection = inspect(assistant, "LoRA 的秩怎么选？")
    hits = assistant.search("LoRA 的秩怎么选？").hits
    first = inspection.candidates[: len(hits)]
    assert [(c.document, c.section) for c in first] == [(h.passage.document, h.passage.section) for h in hits]
    assert [(c.dense, c.keyword) for c in first] == [(h.dense, h.keyword) for h in hits]
    assert [c.fused for c in first] == pytest.approx([h.score for h in hits], abs=1e-4)
    assert [c.rank for c in inspection.candidates] == list(range(1, len(inspection.candidates) + 1))


def test_what_is_used_is_what_is_quoted(assistant: Assistant) -> None:
    inspection = inspect(assistant, QUESTION)
    answer = assistant.ask(QUESTION)
    said = [claim.text for claim in answer.claims]
    assert [sentence for part in inspection.chosen for sentence in said if sentence in part.text] == said
    assert inspection.queries == answer.search_queries
    assert any(candidate.fate == "used" for candidate in inspection.candidates)
    assert inspection.prompt == ()


def test_each_query_is_searched_once_and_ranked_for_itself(
    assistant: Assistant, monkeypatch: pytest.MonkeyPatch
) -> None:
    searched: list[str] = []
    propose = retrieval.propose

    def counting(index: Index, question: str, encoded: Encoded, **more: Any) -> Any:
        searched.append(question)
        return propose(index, question, encoded, **more)

    monkeypatch.setattr("rag.search.searcher.propose", counting)
    inspection = inspect(assistant, QUESTION)
    assert tuple(searched) == inspection.queries
    assert len(inspection.queries) == 3
    assert tuple(side.query for side in inspection.sides) == inspection.queries[1:]
    for side in inspection.sides:
        hits = retrieval.search(assistant.index, assistant.embedder, side.query, k=assistant.settings.top_k).hits
        listed = side.candidates[: len(hits)]
        assert [c.fused for c in listed] == pytest.approx([hit.score for hit in hits], abs=1e-4)
        assert side.proposed >= len(side.candidates) >= len(hits)
    assert inspect(assistant, "LoRA 的秩怎么选？").sides == ()


def test_the_time_is_that_of_the_steps_of_an_answer(assistant: Assistant) -> None:
    taken = inspect(assistant, QUESTION).milliseconds
    assert list(taken) == ["resolve", "search", "decide", "rank", "select", "total"]
    assert taken["total"] == pytest.approx(sum(taken[step] for step in list(taken)[:-1]), abs=0.01)


def test_the_conversation_counts_as_it_does_for_an_answer(assistant: Assistant) -> None:
    first = assistant.ask("LoRA 为什么能省显存？")
    history = [Turn(Role.USER, first.question), Turn(Role.ASSISTANT, first.text)]
    inspection = inspect(assistant, "那秩呢？", history)
    assert inspection.queries == assistant.ask("那秩呢？", history).search_queries
    assert inspection.queries == ("LoRA 为什么能省显存 那秩呢？",)


def test_what_is_kept_and_not_used_says_why(assistant: Assistant) -> None:
    inspection = inspect(assistant, "LoRA 的秩怎么选？")
    pages = {part.document for part in inspection.chosen}
    kept = inspection.candidates[: inspection.top_k]
    assert {"used", "other_page"} <= {candidate.fate for candidate in kept}
    for candidate in kept:
        assert (candidate.fate == "other_page") is (candidate.document not in pages)


def test_a_refusal_quotes_nothing_and_sends_nothing(assistant: Assistant) -> None:
    inspection = inspect(assistant, "Mamba-9 的显存是多少？")
    assert inspection.judgement.refused
    assert (inspection.chosen, inspection.prompt) == ((), ())
    assert {candidate.fate for candidate in inspection.candidates[: inspection.top_k]} == {"not_answered"}


def test_what_is_below_the_top_is_cut(assistant: Assistant) -> None:
    inspection = inspect(assistant.choosing(Choices(top_k=2)), "LoRA 的秩怎么选？")
    fates = [candidate.fate for candidate in inspection.candidates]
    assert inspection.top_k == 2
    assert set(fates[2:]) == {"cut_below_top_k"}
    assert "cut_below_top_k" not in fates[:2]


def test_the_prompt_of_a_model(assistant: Assistant) -> None:
    settings = assistant.settings.model_copy(
        update={"endpoint_url": "http://127.0.0.1:9/v1", "endpoint_model": "m", "endpoint_key": SecretStr("sesame")}
    )
    with_model = Assistant(settings, assistant.embedder)
    inspection = inspect(with_model.choosing(Choices(llm=ChatModelName.ENDPOINT)), QUESTION)
    (_, system), (_, human) = inspection.prompt
    assert "<material>" in system
    assert QUESTION in human
    shown = " ".join(human.split())  # a table and code stand on lines of their own
    assert all(" ".join(part.text.split("。")[0].split()) in shown for part in inspection.chosen)
    assert inspection.prompt_tokens > 100
    assert "sesame" not in json.dumps(inspection.as_dict(), ensure_ascii=False)


def test_a_follow_up_is_completed(assistant: Assistant) -> None:
    inspection = inspect(assistant, "那第二个呢？", [Turn(Role.USER, QUESTION)])
    assert inspection.standalone.startswith("ZeRO-2 和 ZeRO-3 差在哪")


def test_it_can_be_shared_and_read(assistant: Assistant) -> None:
    inspection = inspect(assistant, "Mamba-9 的显存是多少？")
    shared = json.loads(json.dumps(inspection.as_dict(), ensure_ascii=False))
    assert shared["judgement"]["missing"] == ["Mamba-9"]
    assert shared["judgement"]["refused"] is True
    assert "refused: missing_terms" in as_text(inspection)
    assert shared["milliseconds"]["total"] > 0


def test_no_question(assistant: Assistant) -> None:
    with pytest.raises(UsageError, match="empty"):
        inspect(assistant, " ")


def test_a_finished_answer_holds_the_trace_of_its_way(assistant: Assistant) -> None:
    finished = assistant.finish(QUESTION)
    prepared = inspect(assistant, QUESTION)
    told = inspection_of(finished.trace)
    assert told.candidates == prepared.candidates
    assert told.chosen == prepared.chosen
    assert told.judgement == prepared.judgement
