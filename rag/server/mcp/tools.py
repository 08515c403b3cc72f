"""The tools. Failures stay errors, and say what to do."""

from asyncio import to_thread
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from inspect import getdoc
from typing import Annotated, Any

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import CallToolResult, ToolAnnotations
from pydantic import BaseModel, ConfigDict, Field

from rag.answer.assistant import MAX_QUESTION_CHARACTERS
from rag.answer.choices import StyleName
from rag.answer.running import Run
from rag.answer.trace import Finished
from rag.errors import RagError, UsageError
from rag.server.mcp.library import Library
from rag.server.mcp.quoting import fenced, slice_of, without_orders
from rag.server.mcp.results import (
    AskedAnswer,
    GradedAnswer,
    PracticeQuestion,
    SearchResults,
    SourceText,
    answer_result,
    grade_result,
    place_fields,
    question_result,
    result,
    search_result,
)
from rag.types import Role, Turn

MOST_READ = 20_000
MOST_ANSWERED = 20_000
MOST_TURNS = 40
NAME = Field(min_length=1, max_length=1_000)


class HistoryTurn(BaseModel):
    __qualname__ = "Turn"  # like the title: clients see this name in the tools' schemas
    model_config = ConfigDict(title="Turn")
    role: Role
    text: str = Field(max_length=20_000)


Question = Annotated[
    str,
    Field(
        min_length=1,
        max_length=MAX_QUESTION_CHARACTERS,
        description="in Chinese or English, worded as a person would ask",
    ),
]
History = Annotated[
    list[HistoryTurn],
    Field(max_length=MOST_TURNS, description="the conversation before a follow-up, oldest turn first"),
]
Only = Annotated[
    list[Annotated[str, NAME]],
    Field(
        max_length=100,
        description="search only these: documents by their names in results, and folders with a slash at the end; "
        "empty for all",
    ),
]


class McpTools:
    """The tools over a library; clients see each one's docstring as its description."""

    def __init__(self, library: Library) -> None:
        self.library = library

    def search(
        self,
        query: Question,
        k: Annotated[int, Field(ge=1, le=20, description="number of passages to return")] = 5,
        only: Only = [],  # noqa: B006  (a schema default; it is not changed)
    ) -> Annotated[CallToolResult, SearchResults]:
        """Find the passages of the interview material that match a question or keywords, best first. Call it to look
        around or to gather material; call `ask` to get an answer. Read-only."""
        with errors_told():
            return search_result(self.library.assistant(only=only).search(query, k=k))

    async def ask(
        self,
        question: Question,
        history: History = [],  # noqa: B006
        style: Annotated[StyleName, Field(description="how much is quoted")] = StyleName.STANDARD,
        only: Only = [],  # noqa: B006
    ) -> Annotated[CallToolResult, AskedAnswer]:
        """Answer a question about LLM engineering from the interview material: sentences quoted from it, each with a
        citation. Call it whenever such a question is asked, before you answer from memory. If the material has no
        answer, the result says so: then tell the user. If the user names a document or topic, pass it as `only`.
        Read-only."""
        with errors_told():
            assistant = await to_thread(self.library.assistant, style, only)
            run = Run(assistant.stream(question, [Turn(turn.role, turn.text) for turn in history]))
            try:
                async for event in run:
                    if isinstance(event, Finished):
                        index = event.trace.resources.index
                        return await to_thread(answer_result, index, event.answer)
            finally:
                run.stop()  # a cancelled call waits for no model
        raise AssertionError("a stream of events ends with Finished")

    def read_source(
        self,
        document: Annotated[str, NAME, Field(description="name of the document, as search and ask return it")],
        start: Annotated[int, Field(ge=0, description="offset to begin at, in Unicode code points")] = 0,
        end: Annotated[
            int | None, Field(ge=1, description=f"offset to end before, at most {MOST_READ:,} after start")
        ] = None,
    ) -> Annotated[CallToolResult, SourceText]:
        """Read a document of the material around a citation, or from its beginning. Call it to check a quote or to see
        the text around it. Offsets are those of citations. Reads only ingested documents, never files."""
        with errors_told():
            source = self.library.source(document)
            until = min(len(source), start + MOST_READ) if end is None else min(end, len(source))
            if start >= len(source) or until <= start:
                raise UsageError(
                    f"{document} has no characters from {start} to {end or len(source)}",
                    hint=f"it has {len(source):,}: give 0 <= start < end",
                )
            if until - start > MOST_READ:
                raise UsageError(
                    f"{until - start:,} characters are requested; at most {MOST_READ:,} can be read at once",
                    hint="read on from where the last part ended",
                )
            quote, withheld = slice_of(source, start, until)
            text = SourceText(
                **place_fields(document, document, (), start, until),
                quote=quote,
                withheld=withheld,
                characters=len(source),
                next_start=until if until < len(source) else None,
            )
            return result(text, fenced(quote), [text])

    def practice_question(
        self,
        topic: Annotated[str, Field(max_length=1_000, description="a topic; empty for any topic")] = "",
        without: Annotated[
            list[Annotated[str, NAME]], Field(max_length=1_000, description="ids of questions already asked")
        ] = [],  # noqa: B006
    ) -> Annotated[CallToolResult, PracticeQuestion]:
        """Get an interview question from the material to ask the user, without its answer. Call it when the user wants
        to practise or be interviewed, then pass the user's answer to grade_answer."""
        with errors_told():
            question, due = self.library.next_question(topic, without)
            return question_result(question, due=due, topics=self.library.topics())

    def grade_answer(
        self,
        question_id: Annotated[str, NAME, Field(description="the id that practice_question returned")],
        answer: Annotated[str, Field(max_length=MOST_ANSWERED, description="the user's answer, in their own words")],
    ) -> Annotated[CallToolResult, GradedAnswer]:
        """Grade the user's answer to a practice question point by point against the material: what it says, misses and
        gets wrong, each with a citation. Pass the user's words unchanged; do not grade from memory."""
        with errors_told():
            question, grade, kept = self.library.grade(question_id, answer)
            return grade_result(self.library.assistant().index, question, grade, kept=kept)


def add_tools(server: MCPServer, library: Library) -> None:
    tools = McpTools(library)
    reads = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
    keeps = reads.model_copy(update={"read_only_hint": False, "idempotent_hint": False})

    def add(tool: Callable[..., Any], title: str, annotations: ToolAnnotations) -> None:
        server.add_tool(tool, title=title, description=getdoc(tool), annotations=annotations)

    add(tools.search, "Search the material", reads)
    add(tools.ask, "Ask the material", reads)
    add(tools.read_source, "Read a source", reads)
    add(tools.practice_question, "A practice question", reads)
    add(tools.grade_answer, "Grade an answer", keeps if library.allow_writes else reads)


@contextmanager
def errors_told() -> Iterator[None]:
    """Reports our errors to the client; the SDK logs all others here and names only the tool."""
    try:
        yield
    except RagError as error:
        raise ToolError(error_text(error)) from error


def error_text(error: RagError) -> str:
    """
    >>> error_text(UsageError("the question is empty", hint="type a question"))
    'the question is empty; type a question [usage]'
    """
    return f"{'; '.join(without_orders(text) for text in (error.message, error.hint) if text)} [{error.code}]"
