"""The page that most browser tests visit: one server over one index, with a library and a chat model beside."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rag.embedding import Embedder
from rag.settings import ChatModelName, Settings
from tests.rag.chat_models.chat_server import ChatServer
from tests.rag.library import DOCUMENTS, ingest
from tests.rag.ui.forked import serve

ATTACKING = """\
# 梯度裁剪的阈值怎么选？

阈值常取 1.0 <script>window.ran = 1</script> <img src="http://evil.invalid/a.png" onerror="window.ran = 2">。
先看梯度范数的分布 ![x](http://evil.invalid/b.png) ![y][z]，再取高分位 {{constructor}} ${window.ran = 3} `<b>`。

[z]: http://evil.invalid/c.png

裁剪后 $a<b$ 成立 <a href="javascript:window.ran = 4">点这里</a> <svg onload="window.ran = 5"></svg>。
```mermaid
graph TD; A[<img src=x onerror="window.ran=6">]-->B
```
"""
STOPPING = """\
---
title: 早停
tags: [a]
---

# 早停是什么？

早停在验证集损失 $L_{val}$ 不再下降时停止训练，避免过拟合。

## 追问
### 早停的耐心值怎么选？
常取 5 到 10 轮，看验证集损失的波动。
"""
MODEL = "test"


@dataclass(frozen=True)
class House:
    """`settings` are those of its index; documents lie in `folder`, what readers left behind in `folder / "user"`."""

    address: str
    folder: Path
    settings: Settings
    model: ChatServer

    def empty(self) -> None:
        """As if nobody had asked it anything yet."""
        with closing(sqlite3.connect(self.folder / "user" / "conversations.sqlite", isolation_level=None)) as kept:
            kept.execute("PRAGMA foreign_keys = ON")
            kept.execute("DELETE FROM conversations")

    def model_says(self, reply: str, **more: Any) -> ChatServer:
        """Its chat model, which from now on says this, and has not been asked anything."""
        vars(self.model).update(vars(ChatServer(reply, port=self.model.port, **more)))
        return self.model


@contextmanager
def open_house(folder: Path, settings: Settings, embedder: Embedder) -> Iterator[House]:
    ingest(folder, embedder, {**DOCUMENTS, "clipping.md": ATTACKING, "regularisation/stopping.md": STOPPING})
    settings = settings.model_copy(update={"index": folder / "index", "llm": ChatModelName.EXTRACTIVE})
    with ChatServer().running() as model:
        environment = {
            "INTERVIEW_RAG_DATA": str(folder / "user"),
            "INTERVIEW_RAG_LIBRARY": str(folder / "own"),
            "INTERVIEW_RAG_ENDPOINT_URL": model.url,
            "INTERVIEW_RAG_ENDPOINT_MODEL": MODEL,
        }
        arguments = ("--index", str(settings.index), "--port", "7960", "--llm", "extractive")
        with serve(*arguments, environment=environment) as address:
            yield House(address, folder, settings, model)
            model.let_go.set()
