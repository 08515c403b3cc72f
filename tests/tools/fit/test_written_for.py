"""Learning which section of a page a question is written for."""

from pathlib import Path

import numpy as np

from rag.answer.quoted import written_for as program
from rag.language.terms import terms
from tests.conftest import HashEmbedder
from tools.fit.written_for import Section, learnt, sections_in, told_right, write

PAGE = """---
title: 专家怎么分工？
questions:
  "MoE 是什么": ["讲讲 MoE", "MoE 是啥"]
  "负载怎么均衡": ["MoE 的负载为什么不均"]
---
# 专家怎么分工？

## 展开
### MoE 是什么
MoE 把一个大网络分成许多专家。

### 负载怎么均衡
给专家的得分加一个偏置。
"""
PAGES, KINDS, QUESTIONS, WIDTH = 12, 4, 6, 32


def made_up() -> list[Section]:
    """Questions whose kind is the same on every page, in a few numbers, among larger ones that tell nothing."""
    chance = np.random.default_rng(0)
    kinds = np.zeros((KINDS, WIDTH), np.float32)
    kinds[:, :KINDS] = np.eye(KINDS)
    noise = chance.normal(scale=0.5, size=(PAGES, KINDS, QUESTIONS, WIDTH)) * (np.arange(WIDTH) >= KINDS)
    vectors = (kinds[:, None] + noise + 0.3 * chance.normal(size=noise.shape)).astype(np.float32)
    return [
        Section(f"{page}.md", bytes([page, kind] * 4), vectors[page, kind])
        for page in range(PAGES)
        for kind in range(KINDS)
    ]


def test_what_tells_sections_apart_on_other_pages_is_learnt() -> None:
    sections = made_up()
    told, left_out = sections[: -4 * KINDS], sections[-4 * KINDS :]
    plain = told_right(left_out, np.eye(WIDTH, dtype=np.float32))
    assert told_right(left_out, learnt(told)) > plain


def test_what_is_written_is_read_by_the_program(tmp_path: Path, hash_embedder: HashEmbedder) -> None:
    (tmp_path / "moe").mkdir()
    (tmp_path / "moe" / "a.md").write_text(PAGE, encoding="utf-8")
    sections = sections_in(tmp_path, hash_embedder)
    assert [(section.document, len(section.vectors)) for section in sections] == [("moe/a.md", 3), ("moe/a.md", 2)]
    plain = np.eye(hash_embedder.dimension, dtype=np.float32)
    write(tmp_path / "learnt.safetensors", sections, plain, "any")
    read = program.read(tmp_path / "learnt.safetensors")
    assert read.embedder == "any"
    keys = [
        program.key_of("MoE 是什么", [terms("讲讲 MoE"), terms("MoE 是啥")]),
        program.key_of("负载怎么均衡", [terms("MoE 的负载为什么不均")]),
    ]
    of_first, of_second = read.alike(hash_embedder.embed_query("MoE 是什么"), keys)
    assert of_first > of_second
