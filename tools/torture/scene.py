"""What the torture works on: documents, random edits, an embedder that costs nothing, and what an index holds."""

import hashlib
import random
import shutil
import zlib
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ingest.report import Report
from ingest.sync import sync
from rag.embedding import Encoded
from rag.errors import IndexMissingError
from rag.index import open_index
from rag.settings import Settings
from tools.hash_embedder import HashEmbedder

WORDS = [
    "注意力", "权重", "梯度", "模型", "训练", "推理", "显存", "量化", "查询", "向量", "旋转", "位置", "编码", "损失",
    "采样", "缓存", "并行", "切分", "通信", "参数", "batch", "token", "LoRA", "ZeRO-3", "KV-cache", "FP16",
]  # fmt: skip


class QuickEmbedder(HashEmbedder):
    """Vectors drawn from a text's checksum: the same text has the same vector, and nothing is computed."""

    identity = "quick@1"
    dimension = 32
    max_tokens = 512

    def embed_query(self, text: str) -> NDArray[np.float32]:
        vector = np.random.default_rng(zlib.crc32(text.encode())).standard_normal(self.dimension).astype(np.float32)
        return np.asarray(vector / np.linalg.norm(vector), dtype=np.float32)

    def _encode(self, text: str) -> Encoded:
        """With three tokens: its beginning, its middle and its end."""
        third = max(1, len(text) // 3)
        tokens = [self.embed_query(text[start : start + third]) for start in (0, third, 2 * third)]
        return Encoded(self.embed_query(text), np.stack(tokens), np.arange(3, dtype=np.int32))

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(text) // 2 for text in texts]

    def token_spans(self, texts: Sequence[str]) -> list[NDArray[np.int32]]:
        thirds = [max(1, len(text) // 3) for text in texts]
        return [np.asarray([(start, start + third) for start in (0, third, 2 * third)], np.int32) for third in thirds]


EMBEDDER = QuickEmbedder()


def text_of(chance: random.Random, words: int) -> str:
    return "，".join("".join(chance.choices(WORDS, k=5)) for _ in range(max(1, words // 5))) + "。"


def page(chance: random.Random, sections: int = 4, words: int = 60) -> str:
    parts = [f"## 第 {n} 节讲 {text_of(chance, 5)}\n\n{text_of(chance, words)}\n" for n in range(sections)]
    return f"# 这一页讲 {text_of(chance, 5)}\n\n" + "\n".join(parts)


def edit(folder: Path, chance: random.Random) -> str:
    """One random edit, by name: add, edit, delete, rename, touch, swap or duplicate. One document is always left."""
    files = sorted(folder.glob("*.md"))
    kind = chance.choice(["add", "edit", "delete", "rename", "touch", "swap", "duplicate"])
    fresh = folder / f"page-{chance.randrange(10**9)}.md"
    one, other = (chance.choice(files), chance.choice(files)) if files else (fresh, fresh)
    if not files or kind == "add":
        fresh.write_text(page(chance), encoding="utf-8")
    elif kind == "edit":
        lines = one.read_text(encoding="utf-8").split("\n")
        lines.insert(chance.randrange(len(lines)), text_of(chance, 10))
        one.write_text("\n".join(lines), encoding="utf-8")
    elif kind == "delete" and len(files) > 1:
        one.unlink()
    elif kind == "rename":
        one.rename(fresh)
    elif kind == "swap":
        held = one.read_bytes()
        one.write_bytes(other.read_bytes())
        other.write_bytes(held)
    elif kind == "duplicate":
        shutil.copy(one, fresh)
    else:
        one.touch()
    return kind


def ingest(docs: Path, index: Path) -> Report:
    return sync(Settings(index=index), lambda: EMBEDDER, [docs], identity=EMBEDDER.identity)


def content(index_folder: Path) -> str:
    """A digest of all that a reader can see of the live generation; "missing" where there is none."""
    try:
        index = open_index(index_folder)
    except IndexMissingError:
        return "missing"
    with closing(index):
        digest = hashlib.sha256()
        documents = index.storage.documents(with_passages=True)
        digest.update(repr(documents).encode())
        digest.update(repr(index.storage.passages(list(range(index.manifest.passages)))).encode())
        digest.update(index.vectors.all().tobytes())
        assert index.tokens is not None
        for number in range(index.manifest.passages):
            coded = index.tokens.passage(number)
            digest.update(coded.codes.tobytes() + coded.scales.tobytes() + coded.token_ids.tobytes())
        for term in sorted({term for d in documents for p in d.passages for term in d.keyword_terms(p)}):
            digest.update(index.keywords.scores([term]).tobytes())
        return digest.hexdigest()


def from_nothing(docs: Path, scratch: Path) -> str:
    """What an ingest of the documents into a new index holds."""
    shutil.rmtree(scratch, ignore_errors=True)
    ingest(docs, scratch)
    return content(scratch)
