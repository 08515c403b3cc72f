"""What is searched for a question, and what chooses among it."""

from collections.abc import Sequence

import numpy as np

from rag.answer.assistant import Assistant
from rag.answer.evidence import QuestionResults, selection_evidence
from rag.types import Role, Turn


def result_of(assistant: Assistant, question: str, history: Sequence[Turn] = ()) -> QuestionResults:
    return assistant.prepare(question, history).result


def test_a_follow_ups_own_words_choose_and_the_last_answer_does_not(assistant: Assistant) -> None:
    history = [Turn(Role.USER, "LoRA 为什么能省显存？"), Turn(Role.ASSISTANT, "优化器状态只为这两个矩阵保存。 [1]")]
    result = result_of(assistant, "那它的秩怎么选？", history)
    assert result.question.queries[0] == "LoRA 为什么能省显存 那它的秩怎么选？"
    chosen = selection_evidence(assistant.resources.searcher, result).encoded
    whole, own = assistant.embedder.encode_queries(["LoRA 为什么能省显存 那它的秩怎么选？", result.selection_query])
    assert chosen is not None
    assert sorted(chosen.token_ids.tolist()) == sorted([*whole.token_ids, *own.token_ids, *own.token_ids])
    assert len(chosen.tokens) == len(chosen.token_ids)


def test_a_question_that_follows_nothing_chooses_as_it_was_searched(assistant: Assistant) -> None:
    result = result_of(assistant, "LoRA 的秩怎么选？")
    chosen = selection_evidence(assistant.resources.searcher, result).encoded
    assert chosen is not None
    assert result.evidence.encoded is not None
    assert np.array_equal(chosen.tokens, result.evidence.encoded.tokens)
