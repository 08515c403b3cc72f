"""Our retriever and answers as LangChain components for any program. They run the same pipeline."""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import Any, cast

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableGenerator
from pydantic import ConfigDict

from rag.answer.assistant import Assistant
from rag.answer.running import Run
from rag.answer.trace import Event, Finished, TextAdded, TextDiscarded
from rag.types import Hit, Role, Turn

DISCARDED = "\n\n---\n\n"


class PassageRetriever(BaseRetriever):
    """Retrieves `k` passages of an index, or as many as the settings say. Each document's metadata give its place in
    the source, its score and its rank.

    >>> PassageRetriever(assistant=Assistant.open(load_settings())).invoke("RoPE 为什么能外推？")  # doctest: +SKIP
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    assistant: Assistant
    k: int | None = None

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        return [_document(hit) for hit in self.assistant.search(query, k=self.k).hits]


def answer_runnable(assistant: Assistant) -> Runnable[Mapping[str, Any], str]:
    """`{"question": …, "history": [messages]}` -> the answer with its markers, streamed as it is checked.

    `invoke`, `stream`, `ainvoke` and `astream` run the pipeline of `rag.answer.pipeline`; the async ones never block
    the event loop. The history holds messages or chunks of messages, with text or content blocks.
    """

    def events(given: Mapping[str, Any]) -> Iterator[Event]:
        return assistant.stream(given["question"], _turns(given.get("history") or ()))

    def stream(inputs: Iterator[Mapping[str, Any]]) -> Iterator[str]:
        for given in inputs:
            yield from _texts(events(given))

    async def stream_async(inputs: AsyncIterator[Mapping[str, Any]]) -> AsyncIterator[str]:
        async for given in inputs:
            shown = False
            run = Run(events(given))  # in a thread: the event loop waits neither for retrieval nor for a model
            try:
                async for event in run:
                    for text in _text_of(event, shown=shown):
                        shown = True
                        yield text
            finally:
                run.stop()

    return cast("Runnable[Mapping[str, Any], str]", RunnableGenerator(stream, stream_async))


def _texts(events: Iterator[Event]) -> Iterator[str]:
    shown = False
    for event in events:
        for text in _text_of(event, shown=shown):
            shown = True
            yield text


def _text_of(event: Event, *, shown: bool) -> Iterator[str]:
    match event:
        case TextAdded(text):
            yield text
        case TextDiscarded():
            yield DISCARDED  # a stream cannot take back its text
        case Finished(answer) if not shown:
            yield answer.text


def _document(hit: Hit) -> Document:
    passage = hit.passage
    return Document(
        page_content=passage.text,
        metadata={
            "document": passage.document,
            "title": passage.title,
            "section": list(passage.section),
            "start": passage.start,
            "end": passage.end,
            "score": hit.score,
            "rank": hit.rank,
        },
    )


def _turns(history: Sequence[BaseMessage]) -> list[Turn]:
    """The turns of user and assistant; other messages, such as those of tools, are not part of the conversation."""
    turns = []
    for message in history:
        if isinstance(message, HumanMessage):
            turns.append(Turn(Role.USER, str(message.text)))
        elif isinstance(message, AIMessage):
            turns.append(Turn(Role.ASSISTANT, str(message.text)))
    return turns
