"""Texts to unit vectors. Importing this loads nothing heavy."""

from rag.embedding.bert_embedder import BertEmbedder
from rag.embedding.embedder import Embedder, Encoded, Progress, Vectors
from rag.embedding.load import embedder_identity, load_embedder
from rag.embedding.sentence_transformer import SentenceTransformerEmbedder

__all__ = [
    "BertEmbedder",
    "Embedder",
    "Encoded",
    "Progress",
    "SentenceTransformerEmbedder",
    "Vectors",
    "embedder_identity",
    "load_embedder",
]
