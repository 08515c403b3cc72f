"""What a process that answers holds: opened, after its first answer, and after forty."""

from typing import Any

from rag.answer.assistant import Assistant
from rag.evaluation.datasets import evenly_spread
from rag.settings import ChatModelName, Settings
from tools.bench.embedded_corpus import EmbeddedCorpus
from tools.bench.measuring import in_fresh_process, resident_megabytes, table

QUESTIONS = 40


def measure(corpus: EmbeddedCorpus, *, quick: bool) -> dict[str, Any]:
    questions = evenly_spread(corpus.questions, 8 if quick else QUESTIONS)
    return {"rows": in_fresh_process(_held, corpus.settings, questions)}


def show(result: dict[str, Any]) -> str:
    return table(result["rows"])


def _held(settings: Settings, questions: list[str]) -> list[dict[str, Any]]:
    assistant = Assistant.open(settings.model_copy(update={"llm": ChatModelName.EXTRACTIVE}))
    rows = [_row("opened")]
    for number, question in enumerate(questions, 1):
        assistant.ask(question)
        if number in (1, len(questions)):
            rows.append(_row(f"after {number} answers"))
    return rows


def _row(when: str) -> dict[str, Any]:
    return {"when": when, "MB": resident_megabytes(), "MB without mapped files": resident_megabytes(own=True)}
