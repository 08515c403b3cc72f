"""Learning which section of a page a question is written for."""

from pathlib import Path

import numpy as np

from rag.answer.quoted import written_for as program
from rag.language.terms import terms
from tests.conftest import HashEmbedder
from tools.fit.written_for import Section, complete, embedded, learnt, told_right, write, written_in

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
    sections = embedded(written_in(tmp_path), hash_embedder)
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


def test_new_sections_are_added_by_the_map_as_it_is(tmp_path: Path, hash_embedder: HashEmbedder) -> None:
    """What is written in two steps equals what is written at once; what is gone is taken out."""
    folder, file = tmp_path / "pages", tmp_path / "learnt.safetensors"
    (folder / "moe").mkdir(parents=True)
    page = folder / "moe" / "a.md"
    page.write_text(PAGE, encoding="utf-8")
    mapping = np.random.default_rng(5).normal(size=(hash_embedder.dimension,) * 2).astype(np.float16).astype(np.float32)
    write(file, embedded(written_in(folder), hash_embedder), mapping, hash_embedder.identity)
    assert complete(file, folder, hash_embedder) == 0
    page.write_text(PAGE.replace('"MoE 是什么":', '"MoE 的代价": ["MoE 贵在哪"]\n  "MoE 是啥":'), encoding="utf-8")
    assert complete(file, folder, hash_embedder) == 2
    write(tmp_path / "at_once.safetensors", embedded(written_in(folder), hash_embedder), mapping, "any")
    added, at_once = program.read(file), program.read(tmp_path / "at_once.safetensors")
    assert {*added.places} == {*at_once.places}
    for key, place in added.places.items():
        assert added.sections[place].tolist() == at_once.sections[at_once.places[key]].tolist()
    assert added.embedder == hash_embedder.identity
