"""Baselines over the same texts: what LangChain's tutorials build, with our embedder. Needs the extra `evaluation`.

`langchain_huggingface.HuggingFaceEmbeddings` itself cannot be installed beside this project's huggingface-hub;
`LangChainEmbeddings` does the same: it replaces line breaks by spaces, and cuts texts that are too long for the model.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings

from rag.embedding import Embedder
from rag.evaluation.extra import evaluation_extra
from rag.evaluation.retrieval.system_interface import Builder, RetrievedPassage, System, SystemInputs
from rag.language.terms import terms

if TYPE_CHECKING:
    from langchain_text_splitters import RecursiveCharacterTextSplitter


class LangChainEmbeddings(Embeddings):
    """Our embedder behind LangChain's interface."""

    def __init__(self, embedder: Embedder) -> None:
        self.embedder = embedder

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        flat = cut_to_fit([text.replace("\n", " ") for text in texts], self.embedder)
        return self.embedder.embed_passages(flat).tolist()  # type: ignore[no-any-return]

    def embed_query(self, text: str) -> list[float]:
        return self.embedder.embed_query(text.replace("\n", " ")).tolist()  # type: ignore[no-any-return]


def cut_to_fit(texts: Sequence[str], embedder: Embedder) -> list[str]:
    """The longest beginning of each text that fits the embedder, found by bisection over its characters."""
    counts = embedder.count_tokens(texts)
    low = [len(text) if count <= embedder.max_tokens else 0 for text, count in zip(texts, counts, strict=True)]
    high = [len(text) for text in texts]
    while open_ones := [place for place in range(len(texts)) if high[place] - low[place] > 1]:
        middles = {place: (low[place] + high[place]) // 2 for place in open_ones}
        found = embedder.count_tokens([texts[place][:middle] for place, middle in middles.items()])
        for (place, middle), count in zip(middles.items(), found, strict=True):
            (low if count <= embedder.max_tokens else high)[place] = middle
    return [text[:end] for text, end in zip(texts, low, strict=True)]


def tutorial_splitter() -> "RecursiveCharacterTextSplitter":
    """The splitter of LangChain's tutorials on retrieval."""
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    return RecursiveCharacterTextSplitter(chunk_size=1000, chunk_overlap=200, add_start_index=True)


def chinese_splitter() -> "RecursiveCharacterTextSplitter":
    """A splitter at the ends of Chinese sentences, into the smaller chunks that suit Chinese text."""
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    return RecursiveCharacterTextSplitter(
        separators=["\n\n", "\n", "。", "！", "？", "；", "，", " ", ""],
        keep_separator="end",
        chunk_size=500,
        chunk_overlap=50,
    )


Splitter = Callable[[], "RecursiveCharacterTextSplitter"]
Preprocess = Callable[[str], list[str]]


def vector_store(splitter: Splitter) -> Builder:
    """A system that splits, embeds and searches LangChain's FAISS store."""
    return partial(_vector_store, splitter)


def bm25(words: Callable[[], Preprocess] | None = None) -> Builder:
    """A system that splits as in the tutorials, with LangChain's BM25 retriever; `words()` gives the function that
    splits a text into words, by default the retriever's own."""
    return partial(_bm25, words)


def jieba_words() -> Preprocess:
    with evaluation_extra():
        import rjieba
    return lambda text: [word for word in rjieba.cut(text) if word.strip()]


def our_terms() -> Preprocess:
    return lambda text: list(terms(text))


def _vector_store(splitter: Splitter, inputs: SystemInputs) -> System:
    with evaluation_extra():
        from langchain_community.vectorstores import FAISS
    store = FAISS.from_documents(_pieces(inputs, splitter()), LangChainEmbeddings(inputs.embedder))
    return lambda question, count: _passages(store.similarity_search(question, k=count))


def _bm25(words: Callable[[], Preprocess] | None, inputs: SystemInputs) -> System:
    with evaluation_extra():
        from langchain_community.retrievers import BM25Retriever
    options: dict[str, Any] = {"preprocess_func": words()} if words else {}
    with evaluation_extra():
        retriever = BM25Retriever.from_documents(_pieces(inputs, tutorial_splitter()), **options)

    def search(question: str, count: int) -> list[RetrievedPassage]:
        retriever.k = count
        return _passages(retriever.invoke(question))

    return search


def _pieces(inputs: SystemInputs, splitter: "RecursiveCharacterTextSplitter") -> list[Document]:
    documents = [Document(page_content=text, metadata={"document": name}) for name, text in inputs.texts.items()]
    return [piece for piece in splitter.split_documents(documents) if piece.page_content.strip()]


def _passages(documents: Sequence[Document]) -> list[RetrievedPassage]:
    return [RetrievedPassage(document.page_content, (document.metadata["document"],)) for document in documents]
