"""A few documents in folders of their own, and the index that a test makes of them."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ingest.sync import Report, sync
from rag.embedding import Embedder
from rag.index.generation import DiskIndex, open_index
from rag.settings import Settings

TOPICS = {
    "attention": "注意力把每个位置和其他位置联系起来，权重由查询和键的内积得到。",
    "norm": "层归一化对每个样本的特征求均值和方差，和批的大小没有关系。",
    "lora": "LoRA 冻结原来的权重，只训练两个低秩矩阵，所以显存占用小。",
    "rope": "旋转位置编码按位置旋转查询和键，内积里只留下位置之差。",
    "beam": "束搜索每一步保留分数最高的若干个前缀，直到句子结束为止。",
}


class Library:
    """An index and the folders of its documents. Counts how often the embedder is loaded and what it embeds."""

    def __init__(self, folder: Path, embedder: Embedder) -> None:
        self.folder = folder
        self.settings = Settings(index=folder / "index")
        self.embedder = embedder
        self.loads = 0
        self.root = folder / "docs"
        self.root.mkdir()

    def write(self, name: str, text: str, root: str = "docs") -> Path:
        path = self.folder / root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def page(self, topic: str, name: str | None = None, root: str = "docs") -> Path:
        return self.write(name or f"{topic}.md", f"# {topic} 是什么？\n\n{TOPICS[topic]}\n", root)

    def sync(self, *paths: Path, settings: Settings | None = None, identity: str = "hash@1", **more: Any) -> Report:
        def load() -> Embedder:
            self.loads += 1
            return self.embedder

        if not paths and not (self.settings.index / "CURRENT").exists():
            paths = (self.root,)
        return sync(settings or self.settings, load, paths, identity=identity, **more)

    @contextmanager
    def index(self) -> Iterator[DiskIndex]:
        index = open_index(self.settings.index)
        try:
            yield index
        finally:
            index.close()

    def names(self) -> list[str]:
        with self.index() as index:
            return [document.name for document in index.storage.documents()]

    def content(self) -> list[Any]:
        """Everything a reader can see of the index, its vectors and keywords included."""
        with self.index() as index:
            documents = index.storage.documents(with_passages=True)
            numbers = range(index.manifest.passages)
            return [
                documents,
                index.storage.passages(list(numbers)),
                index.vectors.all().tolist(),
                [index.keywords.scores([term]).tolist() for term in index.keywords.terms()],
                index.keywords.terms(),
            ]


def counts(report: Report) -> dict[str, int]:
    values = report.as_dict()["documents"]
    return {name: len(value) if isinstance(value, list) else value for name, value in values.items() if value}
