"""Sections by the questions that they are written down to answer, by meaning."""

from contextlib import closing
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

from rag.answer.quoted import features, ranking
from rag.answer.quoted.features import SectionFeatures
from rag.answer.quoted.ranking import fitted_weights, rank
from rag.answer.quoted.written_for import WrittenFor, key_of
from rag.index import open_index
from rag.language.terms import terms
from rag.search.retrieval import search
from tests.conftest import HashEmbedder
from tests.rag.library import ingest

NOTHING = SectionFeatures(**dict.fromkeys((field.name for field in fields(SectionFeatures)), 0.0))
QUESTIONS = {"甲": "屋顶是什么颜色", "乙": "钥匙放哪儿了", "丙": "门怎么开"}
PAGE = "# 房子\n\n" + "\n".join(f"## {heading}\n这里说到房子的一件事，{heading}。\n" for heading in QUESTIONS)


def test_a_question_is_like_the_sections_that_the_map_tells() -> None:
    sections = np.asarray([[100, 0], [-50, 0], [0, 127]], np.int8)
    mapping = np.asarray([[1, 0], [0, 0], [0, 1]], np.float32)  # leaves out the second number
    learnt = WrittenFor("any", mapping, sections, {b"a": 0, b"b": 1, b"c": 2})
    question = np.asarray([0.6, 9.0, 0.8], np.float32)
    assert learnt.alike(question, [b"a", b"b", b"c"]) == pytest.approx([0.6, -0.6, 0.8])
    assert learnt.alike(question, [b"a", b"?", b"c"]) == pytest.approx([0.6, 0.7, 0.8]), "what is not known is as usual"
    assert learnt.alike(question, [b"?", b"!"]).tolist() == [0.0, 0.0]
    assert learnt.alike(question, []).shape == (0,)


def test_a_section_is_told_by_its_heading_and_its_questions() -> None:
    keys = [key_of("甲", [["a", "b"]]), key_of("乙", [["a", "b"]]), key_of("甲", [["a"], ["b"]]), key_of("甲", [])]
    assert len(set(keys)) == 4
    assert key_of("甲", [["a", "b"]]) == keys[0]


# Where another embedder's map tells nothing, words alone decide, and count twice.
@pytest.mark.parametrize(("is_fitting", "first"), [(True, "乙"), (False, "丙")])
def test_the_section_that_the_question_is_like_comes_first(
    tmp_path: Path, hash_embedder: HashEmbedder, monkeypatch: pytest.MonkeyPatch, is_fitting: bool, first: str
) -> None:
    written = "\n".join(f'  "{heading}": ["{asked}"]' for heading, asked in QUESTIONS.items())
    ingest(tmp_path, hash_embedder, {"a.md": f"---\ntitle: 房子\nquestions:\n{written}\n---\n{PAGE}"})
    question = "门怎么开呀"
    asked = hash_embedder.embed_query(question)
    wanted = np.stack([-asked, asked, -asked])  # of 甲, 乙 and 丙
    codes = np.rint(wanted / np.abs(wanted).max() * 127).astype(np.int8)
    keys = [key_of(heading, [terms(text)]) for heading, text in QUESTIONS.items()]
    embedder = hash_embedder.identity if is_fitting else "another"
    learnt = WrittenFor(embedder, np.eye(len(asked), dtype=np.float32), codes, {k: n for n, k in enumerate(keys)})
    monkeypatch.setattr(features, "read_written_for", lambda: learnt)
    weights = replace(NOTHING, written_for=1.0, asked_nearly=0.2)
    with closing(open_index(tmp_path / "index")) as index:
        monkeypatch.setitem(fitted_weights(), index.manifest.embedder_name, weights)
        evidence = search(index, hash_embedder, question)
        found = rank(index, hash_embedder, evidence)
        monkeypatch.setattr(ranking, "BY_WORDS_ALONE", 1.0)
        once = rank(index, hash_embedder, evidence)
    assert found.sections[0].heading == once.sections[0].heading == first
    assert found.scores[0] == pytest.approx(once.scores[0] * (1 if is_fitting else 2))
    assert once.scores[0] > 0
