"""Chooses the grader: the embedder if the index has token vectors, else shared wording; a chat model if asked."""

from rag.answer.assistant import Assistant
from rag.errors import UsageError
from rag.practice.grading import EmbedderGrader, Grader, Method, OverlapGrader
from rag.practice.judge import open_judge
from rag.practice.likeness import Comparer


def open_grader(assistant: Assistant, method: Method | None = None) -> Grader:
    """A grader over the assistant's current resources. None chooses the best one without a chat model. Raises
    UsageError for an unavailable method."""
    resources = assistant.resources
    has_tokens = resources.index.tokens is not None
    if method is Method.OVERLAP or (method is None and not has_tokens):
        return OverlapGrader()
    if not has_tokens:
        raise UsageError(
            "the index has no token vectors to grade with",
            hint="set `late_interaction = true` and run: python -m ingest --rebuild; or grade by overlap",
        )
    embedder = EmbedderGrader(Comparer(resources.index, resources.embedder), open_judge(resources.embedder))
    if method is Method.CHAT_MODEL:
        from rag.practice.chat_grader import ChatGrader

        if resources.chat_model is None:
            raise UsageError("there is no chat model to grade with", hint="configure one (--llm), or grade without")
        return ChatGrader(resources.chat_model, embedder)
    return embedder
