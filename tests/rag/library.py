"""A handful of small documents, and a real index made from them."""

from collections.abc import Mapping
from pathlib import Path
from unittest.mock import patch

from ingest.sync import Report, sync
from rag.embedding import Embedder
from rag.settings import ChatModelName, Settings

ROPE = """\
# RoPE 怎么工作，为什么能外推？

## 一句话回答
RoPE 按位置旋转 Query 和 Key 的每两维，内积只依赖相对位置。

## 推导
旋转不改变向量长度，也没有可训练参数。底数默认取 10000.5，也就是 `base = 10000.5`。

$$
f(q, m) = q e^{i m \\theta}
$$

| 方法 | 改了什么 |
|---|---|
| PI | 把所有位置等比压缩 |
| YaRN | 按波长分段插值 |

```python
def rotate(x, angle):
    return x * cos(angle) + turn(x) * sin(angle)
```

## 外推
- 低频维度在训练长度内没有转满一圈。
- 超长时会遇到没见过的角度，所以 RoPE 不能直接外推。
"""
ZERO = """\
# ZeRO-2 和 ZeRO-3 差在哪？

## 一句话回答
ZeRO-2 切分优化器状态和梯度，ZeRO-3 还切分模型参数。

## 通信
ZeRO-3 的通信量是数据并行的 1.5 倍，因为前向和反向都要收集参数。
参数 `find_unused_parameters` 属于 DDP，不属于 ZeRO。
"""
SCALING = """\
# Why does mixed precision training need loss scaling?

Small gradients underflow to zero in FP16. Loss scaling multiplies the loss by a large factor before the backward pass.
The gradients are divided by the same factor before the optimizer step. BF16 does not need loss scaling.
"""
LORA = """\
LoRA 面试题

1、LoRA 为什么能省显存？
答案:LoRA 冻结原来的权重，只训练两个低秩矩阵，优化器状态只为这两个矩阵保存。合并之后推理没有额外开销。

2、LoRA 的秩怎么选？
答案:常用的秩是 8 到 64。秩太小会欠拟合，秩太大省不下显存。
"""
QUANTIZATION = """\
# W4A16 是什么意思？

权重用 4 位整数保存，激活仍用 16 位浮点数计算。C++ 推理引擎在计算之前把权重反量化。
"""
# The same text as QUANTIZATION, under another title.
REPEATED = f"""\
---
title: 量化格式速查
---
{QUANTIZATION}"""
DOCUMENTS = {
    "rope.md": ROPE,
    "zero.md": ZERO,
    "scaling.md": SCALING,
    "lora.txt": LORA,
    "quantization.md": QUANTIZATION,
    "formats.md": REPEATED,
}

# To measure the anchors of refusals, where there are so many documents that they are measured.
QUESTIONS_ASKED = 30


def library_settings(folder: Path) -> Settings:
    return Settings(index=folder / "index", data=folder / "user", embedder="hash", llm=ChatModelName.EXTRACTIVE)


def ingest(
    folder: Path,
    embedder: Embedder,
    documents: Mapping[str, str] = DOCUMENTS,
    *,
    allow_empty: bool = False,
    with_tokens: bool = True,
) -> Report:
    """Make `folder/documents` hold exactly these documents, and bring `folder/index` in line; without the vectors of
    tokens it takes half the time."""
    source = folder / "documents"
    source.mkdir(parents=True, exist_ok=True)
    for file in source.iterdir():
        file.unlink()
    for name, text in documents.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(text, encoding="utf-8")
    settings = library_settings(folder).model_copy(update={"late_interaction": with_tokens})
    with patch("ingest.anchors.ASKED", QUESTIONS_ASKED):
        return sync(settings, lambda: embedder, [source], identity=embedder.identity, allow_empty=allow_empty)
