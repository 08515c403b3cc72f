"""An agent's tools: search, read a page, calculate, ask back. A tool's result is fenced data: as in every context,
sentences that give orders to a model are left out."""

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from rag.answer.agent.calculator import calculate
from rag.answer.agent.findings import Findings
from rag.answer.agent.middleware import MOST_ASKED_BACK
from rag.answer.evidence import run_search
from rag.answer.quoted.paragraphs import Paragraph, paragraphs, without_orders
from rag.answer.rank import rank_sections
from rag.answer.written.checked_text import is_plain
from rag.answer.written.context import as_context, choose_context
from rag.errors import RagError, UsageError
from rag.language.injection import is_injection
from rag.question.follow_ups import Standalone
from rag.question.question import question_of
from rag.question.wording import in_the_materials_words
from rag.text.tokens import count_tokens
from rag.types import StepKind

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool

# The most characters of a request.
MOST_ASKED = 400
# Pages that a result names.
PAGES_NAMED = 5

Query = Annotated[str, Field(description="a question or keywords, about one thing")]
Name = Annotated[str, Field(description="the name of a page, as a search gave it")]
Part = Annotated[int, Field(description="which part of it; the first is 1")]
Expression = Annotated[str, Field(description="such as 7e9 * 16 / 2**30")]
BackQuestion = Annotated[str, Field(description="one short question, in the language of the user")]


class AgentTools:
    """The tools, which share the findings so far. The model reads the docstring of each method."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings

    def search(self, query: Query) -> str:
        """Find what the material says about one thing. Search again for each other thing that the question needs."""
        return self._told(StepKind.SEARCH, query, self._search)

    def read_page(self, document: Name, part: Part = 1) -> str:
        """Read a page that a search named, from its beginning or a later part on."""
        return self._told(StepKind.READ, document, lambda name: self._read(name, part))

    def calculator(self, expression: Expression) -> str:
        """Compute with numbers that the material states."""
        return self._told(StepKind.CALCULATE, expression, lambda text: (result := calculate(text), result, ()))

    def ask_user(self, question: BackQuestion) -> str:
        """Ask the user which of several meanings the question has. Only where no answer is possible without that."""
        return self._told(StepKind.ASK, question, self._ask)

    def _told(self, kind: StepKind, request: str, work: Callable[[str], tuple[str, str, Sequence[str]]]) -> str:
        """The text that the model is told of a step, which is kept; `work` returns (that text, a short result,
        documents). Errors are told, too, so that the model can do better."""
        began, request = time.perf_counter(), request.strip()
        findings = self._findings
        try:
            if not request or len(request) > MOST_ASKED:
                raise UsageError(f"1 to {MOST_ASKED} characters are needed", hint="ask for one thing in a few words")
            told, short, documents = work(request)
        except RagError as error:
            findings.note(kind, request[:MOST_ASKED], error.message, began=began, failed=True)
            return f"Error: {error.message}. {error.hint}".strip()
        findings.note(kind, request, short, began=began, documents=documents)
        return told

    def _search(self, query: str) -> tuple[str, str, Sequence[str]]:
        findings, resources = self._findings, self._findings.resources
        if not findings.is_new(StepKind.SEARCH, query):
            raise UsageError("this was searched before", hint="search for something else, or answer")
        question = question_of(Standalone(in_the_materials_words(resources.index, query)))
        result = run_search(resources.searcher, question)
        chosen = choose_context(result.evidence, rank_sections(resources, result), findings.step_tokens)
        findings.add(chosen, result.evidence)
        documents = list(dict.fromkeys(hit.passage.document for hit in result.evidence.hits))[:PAGES_NAMED]
        return _fenced(chosen, documents), "", [paragraph.passage.document for paragraph in chosen]

    def _read(self, document: str, part: int) -> tuple[str, str, Sequence[str]]:
        storage, limit = self._findings.resources.index.storage, self._findings.step_tokens
        numbers = storage.document_numbers(document)
        if not numbers:
            raise UsageError(f"there is no page {document!r}", hint="use a name that a search gave")
        if not self._findings.is_new(StepKind.READ, f"{document} {part}"):
            raise UsageError("this was read before", hint="read another part, or answer")
        every = (paragraph for passage in storage.passages(numbers) for paragraph in paragraphs(passage))
        parts = in_parts(without_orders(every), limit)
        if not 1 <= part <= len(parts):
            raise UsageError(f"the page has the parts 1 to {len(parts)}, not {part}", hint="choose one of these")
        chosen = parts[part - 1]
        self._findings.add(chosen)
        return f"Part {part} of {len(parts)}.\n{_fenced(chosen, [document])}", f"{part}/{len(parts)}", [document]

    def _ask(self, question: str) -> tuple[str, str, Sequence[str]]:
        question = " ".join(question.split())
        if self._findings.asks:
            raise UsageError("the user was already asked", hint="answer with what there is")
        is_question = len(question) <= MOST_ASKED_BACK and question.endswith(("?", "？"))
        if not is_question or not is_plain(question) or is_injection(question):
            raise UsageError(
                f"this is not a short question of at most {MOST_ASKED_BACK} characters", hint="answer instead"
            )
        self._findings.asks = question
        return question, "", ()


def tools_for(findings: Findings, *, may_ask: bool) -> list["BaseTool"]:
    """The tools as LangChain's objects. Asking back ends the run."""
    from langchain_core.tools import StructuredTool

    tools = AgentTools(findings)
    plain: list[BaseTool] = [
        StructuredTool.from_function(function) for function in (tools.search, tools.read_page, tools.calculator)
    ]
    return [*plain, StructuredTool.from_function(tools.ask_user)] if may_ask else plain


def in_parts(read: Sequence[Paragraph], tokens: int) -> list[list[Paragraph]]:
    """Paragraphs in parts of at most `tokens` tokens; a longer paragraph is a part of its own."""
    parts: list[list[Paragraph]] = []
    for paragraph in read:
        if parts and count_tokens(as_context([*parts[-1], paragraph])) <= tokens:
            parts[-1].append(paragraph)
        else:
            parts.append([paragraph])
    return parts


def _fenced(chosen: Sequence[Paragraph], documents: Sequence[str]) -> str:
    named = ", ".join(name for name in documents if not is_injection(name))
    return f"Pages: {named or 'none'}\n<material>\n{as_context(chosen)}\n</material>"
