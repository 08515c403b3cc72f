"""A handful of pages to practise with, in two topics, and the room over them."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from ingest.sync import sync
from rag.answer.assistant import Assistant
from rag.embedding import Embedder
from rag.settings import ChatModelName, Settings
from rag.ui.practice.handlers import PracticeComponents, PracticeHandlers
from rag.ui.session.part import Updates
from rag.ui.session.session import Session
from tests.ingest.formats.pdf_file import lines, pdf_of, said
from tests.rag.ui.rooms import named

README = """\
---
topics:
  memory: {zh: 显存, en: Memory}
  attention: {zh: 注意力, en: Attention}
roles:
  systems: {zh: 系统, en: Systems, topics: [memory]}
---
# Pages
"""
ZERO = """\
---
title: ZeRO-2 和 ZeRO-3 差在哪？
tags: [ZeRO, 显存]
---

# ZeRO-2 和 ZeRO-3 差在哪？

## 一句话回答
ZeRO-2 切分优化器状态和梯度，ZeRO-3 还切分模型参数。

## 要点
- ZeRO-2 把优化器状态和梯度切分到各张卡上，每张卡仍然保存完整的模型参数。
- ZeRO-3 在 ZeRO-2 之上还切分模型参数，前向和反向时再按层收集参数。
- ZeRO-3 的通信量是数据并行的 1.5 倍，因为前向和反向都要收集参数。

## 展开
### 显存
混合精度训练时每个参数占 $2+2+12=16$ 字节，ZeRO-3 把它除以卡数。

## 追问
### ZeRO-3 为什么更慢？
ZeRO-3 在前向和反向都要收集参数，通信量是数据并行的 1.5 倍。

### 什么时候不需要 ZeRO-3？
模型参数能放进一张卡（$16 N$ 字节）时用 ZeRO-2 就够了，它的通信量和数据并行相同。

## 常见错误
- **误解**：ZeRO-2 已经切分了模型参数。**正确**：ZeRO-2 只切分优化器状态和梯度，切分模型参数的是 ZeRO-3。
- **误解**：ZeRO-3 的通信量和数据并行相同。**正确**：ZeRO-3 的通信量是数据并行的 1.5 倍。

## English
### What is the difference between ZeRO-2 and ZeRO-3?
ZeRO-2 shards optimizer states and gradients; ZeRO-3 also shards the model parameters.

- ZeRO-2 shards the optimizer states and gradients across GPUs, and each GPU keeps all model parameters.
- ZeRO-3 also shards the model parameters and gathers them layer by layer in the forward and backward pass.
- ZeRO-3 communicates 1.5 times as much as data parallelism, because both passes gather the parameters.

### Why is ZeRO-3 slower?
It gathers parameters in both passes, which is 1.5 times the communication of data parallelism.

### When is ZeRO-3 not needed?
When the parameters fit on one GPU, ZeRO-2 is enough and communicates no more than data parallelism.
"""
CACHE = """\
# KV cache 是什么，为什么能省计算？

## 一句话回答
KV cache 存下算过的键和值，解码时不再重复计算。

## 要点
- KV cache 把每一层算过的 Key 和 Value 存下来，解码的每一步只需要计算新的 token。
- KV cache 的大小和层数、KV 头数、每头维度、序列长度成正比。

## 追问
### 训练时为什么不用 KV cache？
训练用 teacher forcing，全部位置在一次前向里并行算完，没有重复计算。

## 常见错误
- **误解**：FlashAttention 减少 KV cache。**正确**：FlashAttention 不减少 KV cache，K 和 V 仍要完整保存。
"""
HOSTILE = """\
# 为什么 <img src=x onerror="window.ran = 1"> 不会运行？

## 一句话回答
页面把 <script>window.ran = 1</script> 当作文字显示，所以它不会运行。

## 要点
- 页面把资料里的 HTML 当作文字显示，脚本不会运行。

## 追问
### 那么 <b onclick="window.ran = 1">加粗</b> 呢？
加粗的标签也只是文字，它不会变成按钮。
"""
PAGES = {"README.md": README, "memory/zero.md": ZERO, "attention/cache.md": CACHE, "attention/hostile.md": HOSTILE}
# A PDF, whose second page has a question.
SLIDES = pdf_of([
    said(72, 770, "Notes on training", size=22, font="B")
    + lines(72, 740, ["These notes tell how a model is trained.", "Each part answers one question."]),
    said(72, 770, "Why is the gradient clipped?", size=16, font="B")
    + lines(72, 740, ["A clipped gradient cannot throw the weights far away.", "The threshold is often one."]),
])  # fmt: skip
ZERO_QUESTION = "memory/zero.md#ZeRO-2 和 ZeRO-3 差在哪？"
CACHE_QUESTION = "attention/cache.md#KV cache 是什么，为什么能省计算？"
PARTS = named(PracticeComponents)
GOOD = "ZeRO-2 把优化器状态和梯度切分到各张卡，每张卡还保存完整的模型参数。ZeRO-3 还切分模型参数，前向和反向时再收集。"


def ingest_pages(folder: Path, embedder: Embedder, pages: dict[str, str] = PAGES, *, slides: bool = False) -> Settings:
    """Make `folder/documents` hold exactly these pages, and the slides if wished, and bring `folder/index` in line."""
    source = folder / "documents"
    if slides:
        (source / "slides").mkdir(parents=True, exist_ok=True)
        (source / "slides" / "notes.pdf").write_bytes(SLIDES)
    for name, text in pages.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(text, encoding="utf-8")
    for file in source.rglob("*.md"):
        if file.relative_to(source).as_posix() not in pages:
            file.unlink()
    settings = Settings(index=folder / "index", data=folder / "user", embedder="hash", llm=ChatModelName.EXTRACTIVE)
    sync(settings, lambda: embedder, [source], identity=embedder.identity)
    return settings


class Room:
    """The handlers of the room, used as the browser uses them."""

    def __init__(self, over: Assistant | PracticeHandlers, place: object = None) -> None:
        """In the bank, unless the page was loaded at a place. Over the handlers of another page the program goes on."""
        self.handlers = over if isinstance(over, PracticeHandlers) else PracticeHandlers(over, PARTS)
        self.session = Session(user="")
        self.navigation = self.shell = self.part = self.notice = ""
        self._take(self.handlers.open(self.session, place))
        if place is None:
            self.act("go", "bank")

    @property
    def html(self) -> str:
        return "".join((self.navigation, self.notice, self.shell, self.part))

    def act(self, action: str, rest: str = "", **fields: str) -> "Room":
        return self._take(self.handlers.act(self.session, event(action, rest, fields)))

    def grade(self, question: str, attempt: str, action: str = "grade", edition: int = 0) -> "Room":
        fields = {"question": question, "attempt": attempt, "edition": edition}
        return self._take(self.handlers.grade(self.session, event(action, "", fields)))

    def keep(self, field: str, question: str, text: str, edition: int = 0) -> str:
        fields = {"field": field, "question": question, "text": text, "edition": edition}
        return self.handlers.keep(self.session, event("keep", "", fields))

    def restore(self, **fields: str) -> "Room":
        return self._take(self.handlers.restore(self.session, event("restore", "", fields)))

    def give(self, action: str, rest: str = "", **fields: str) -> Updates:
        return self.handlers.give(self.session, event(action, rest, fields))

    def source(self, **fields: str) -> Updates:
        return self.handlers.source(self.session, event("source", "", fields))

    def _take(self, updates: Updates) -> "Room":
        for name in ("navigation", "shell", "part", "notice"):
            setattr(self, name, updates.get(getattr(PARTS, name), getattr(self, name)))
        return self


def event(action: object, rest: str, fields: object) -> Any:
    data = {"action": action, "rest": rest, "fields": fields, "zone": "Asia/Shanghai"}
    return SimpleNamespace(_data=data)
