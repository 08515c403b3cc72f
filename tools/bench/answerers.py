"""Our answers, and those of the plain chain of LangChain's tutorials, in one form. The chain needs the extra
`evaluation`."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from rag.answer.assistant import Assistant
from rag.errors import UsageError
from rag.evaluation.answers.judging import judge
from rag.evaluation.extra import evaluation_extra
from rag.evaluation.retrieval.langchain_systems import LangChainEmbeddings, tutorial_splitter
from rag.index import Index
from rag.language.language import Language, language_of
from rag.text.markdown import parse
from rag.text.sentences import UnitKind, units
from rag.types import AnswerKind

# What a tutorial's retriever gives.
PIECES = 4
PROMPT = """\
Answer the question briefly, in its language, from the context below and nothing else. If the context does not hold \
the answer, reply with exactly: {decline}

Context:
{context}

Question: {question}"""
DECLINE = {Language.ZH: "资料中没有答案。", Language.EN: "The context does not hold the answer."}
# Small models decline in words of their own.
DECLINES = re.compile(
    r"(?:资料|材料|上下文|文[中本])[^。]{0,6}没有|没有(?:直接)?(?:提[及到供]|说明)|未(?:直接)?提[及到供]|不知道|无法回答"
    r"|does not (?:hold|say|mention|provide|contain|specify)|don't know|not (?:mentioned|provided|specified)"
)


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer's text and sentences, and the texts that it cites or was given to read; `precise` of `pairs` citations
    support their sentence."""

    text: str
    sentences: tuple[str, ...]
    sources: tuple[str, ...]
    declined: bool
    precise: int = 0
    pairs: int = 0


Answerer = Callable[[str], Reply]


def ours(assistant: Assistant) -> Answerer:
    """The program's answers, with the chat model of the assistant or none. What it points to as the nearest, without an
    answer, is declined."""

    def reply(question: str) -> Reply:
        answer = assistant.ask(question)
        judged = judge(answer, {c.document: assistant.source(c.document) or "" for c in answer.citations}, ())
        return Reply(
            answer.text,
            tuple(claim.text for claim in answer.claims),
            tuple(f"{citation.title} {citation.quote}" for citation in answer.citations),
            answer.kind is not AnswerKind.ANSWER,
            judged.precise,
            judged.pairs,
        )

    return reply


def plain_chain(assistant: Assistant) -> Answerer:
    """The tutorials' chain over the assistant's documents, with its embedder and its chat model. Raises UsageError
    where it has none."""
    with evaluation_extra():
        from langchain_community.vectorstores import FAISS
    from langchain_core.documents import Document
    from langchain_core.output_parsers import StrOutputParser
    from langchain_core.prompts import ChatPromptTemplate

    model = assistant.resources.chat_model
    if model is None:
        raise UsageError("no chat model writes here", hint="set one up (make llm), and name it with --llm")
    pages = [Document(page_content=source) for source in sources(assistant.index).values()]
    store = FAISS.from_documents(tutorial_splitter().split_documents(pages), LangChainEmbeddings(assistant.embedder))
    chain = ChatPromptTemplate.from_template(PROMPT) | model.model | StrOutputParser()

    def reply(question: str) -> Reply:
        pieces = tuple(piece.page_content for piece in store.similarity_search(question, k=PIECES))
        decline = DECLINE[language_of(question)]
        text = chain.invoke({"context": "\n\n".join(pieces), "question": question, "decline": decline})
        return Reply(text, sentences_of(text), pieces, bool(DECLINES.search(text)))

    return reply


def sources(index: Index) -> dict[str, str]:
    """Each document's name and source text."""
    names = [entry.name for entry in index.storage.entries()]
    return {name: index.storage.source(name) or "" for name in names}


def sentences_of(text: str) -> tuple[str, ...]:
    """The sentences and blocks of a Markdown text, without its headings."""
    found = units(text, parse(text))
    return tuple(text[unit.start : unit.end] for unit in found if unit.kind is not UnitKind.HEADING)
