"""What the words that ask what something is are learnt from."""

from pathlib import Path

import pytest

from tests.conftest import HashEmbedder
from tests.rag.library import ingest
from tools.fit import what_it_is

PAGE = """---
title: 专家怎么分工？
questions:
  "MoE 是什么": ["讲讲 MoE"]
  "负载怎么均衡": ["MoE 的负载为什么不均"]
---
# 专家怎么分工？

## 名词
### MoE 是什么
MoE 把一个大网络分成许多专家。

## 展开
### 负载怎么均衡
给专家的得分加一个偏置。
"""


def test_definitions_are_told_from_other_sections_of_their_page(
    tmp_path: Path, hash_embedder: HashEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    documents = {"a.md": PAGE, "b.md": PAGE.replace("## 名词\n### MoE 是什么", "## 展开\n### MoE 是什么")}
    ingest(tmp_path, hash_embedder, documents)
    for name, text in documents.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.setattr(what_it_is, "CORPUS", tmp_path)
    asked = what_it_is.asked_in(tmp_path / "index")
    assert {one.page for one in asked} == {"a.md"}, "a page that defines nothing teaches nothing"
    assert sorted((one.what, "moe" in one.pieces) for one in asked) == [(False, False)] * 2 + [(True, False)] * 2
    assert {piece for one in asked if one.what for piece in one.pieces} >= {"讲讲", "是什么"}
    assert {piece for one in asked if not one.what for piece in one.pieces} >= {"为什么", "怎么"}
