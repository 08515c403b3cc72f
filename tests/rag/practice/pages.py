"""A page as the corpus has them, notes of somebody's own, and an index of both."""

from pathlib import Path

from rag.index import open_index
from rag.practice.bank import Bank, read_bank
from tests.conftest import HashEmbedder
from tests.rag.library import ingest

CACHE = """\
---
title: KV cache 是什么，为什么能加速解码？
tags: [KV cache, 显存]
asked_as:
  - what is a KV cache
---

# KV cache 是什么，为什么能加速解码？

## 一句话回答
KV cache 存下算过的键和值。

## 要点
- KV cache 把每一层已经算过的 Key 和 Value 存下来，解码的每一步只需为新 token 做一次前向。
- KV cache 的大小随序列长度和并发数线性增长，Llama-2-7B 每个 token 占 512 KiB。
- 缩小 KV cache 的办法有减少 KV 头、压成潜向量、降低位宽。

## 展开
### 为什么可以缓存
因果掩码使旧位置的隐藏状态不依赖新 token，所以旧位置的 Key 和 Value 不再变化。下面的代码验证：

```python
assert 1 < 2  # $not a formula$
```

### 大小公式
每个 token 的缓存等于两倍的层数、头数、头维度与字节数之积：

$$
2 L n d b
$$

式中 $L$ 是层数，$n$ 是头数。

## 追问
### 为什么 Query 不用缓存？
旧位置的 Query 只在当时那一步使用，以后不会再被读到。例如解码第 9 步不会去读第 3 步的 Query。缓存 Query 只会浪费显存。

### GQA 省多少？
GQA 让多个 Query 头共享一组 Key 和 Value，缓存按头数之比缩小。

## 常见错误
- **误解**：KV cache 可以减少 prefill 的计算量。**正确**：prefill 要算完整的前向，省下的是解码时的重算。
- **误解**：网上常见说法：“GQA 能让显存减少 15%”。**正确**：缩减由头数之比唯一确定。

## English
### What is a KV cache, and why does it speed up decoding?
A KV cache keeps the keys and values.

- The KV cache keeps the keys and values of each layer, so a step of decoding is one forward pass for the new token.
- Its size grows with the length and the number of sequences; Llama-2-7B takes 512 KiB for a token.
- It shrinks with fewer KV heads, a latent vector, or fewer bits.

### Why is the query not cached?
The query of an old position is used in its own step only. For example, step 9 never
reads that of step 3. Keeping it would waste memory.

### How much does GQA save?
GQA shares keys and values between query heads.
"""
NOTES = """\
# 我的笔记

## 31、LoRA 为什么能省显存？
LoRA 冻结原来的权重，只训练两个低秩矩阵。优化器状态只为这两个矩阵保存。

### 细节
合并之后推理没有额外开销。

## 随手记
这一节没有问题。
"""
DOCUMENTS = {"cache.md": CACHE, "notes.md": NOTES}
CACHE_ID = "cache.md#KV cache 是什么，为什么能加速解码？"
QUERY_ID = "cache.md#为什么 Query 不用缓存？"
GQA_ID = "cache.md#GQA 省多少？"
LORA_ID = "notes.md#LoRA 为什么能省显存？"


def bank_of(folder: Path, documents: dict[str, str] | None = None) -> Bank:
    """The bank of a real index of these documents."""
    ingest(folder, HashEmbedder(), documents or DOCUMENTS)
    index = open_index(folder / "index")
    try:
        return read_bank(index)
    finally:
        index.close()
