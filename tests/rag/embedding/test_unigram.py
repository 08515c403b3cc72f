"""Our tokenizer against `tokenizers`, which reads the same file."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from rag.embedding.unigram import Unigram
from rag.models import e5, locate
from rag.settings import Settings
from tests.paths import ROOT
from tests.rag.models.e5_oracle import write_tiny

SPECIAL = ("<pad>", "<s>", "</s>", "<unk>")
ODD = (
    "",
    " ",
    "  a  b  ",
    "a <s> b </s> <unk> <pad>",
    "Ａﬁ\x07 e\u0301 \u200b～ 🙂🙂",
    "\u1112\u1161\u11ab 각 e\u0301\u0327 ﾃﾞｽﾄ ㈱①② ½ nai\u0308ve",
    "＂x ´ ㌔ ﷺ end",
    "$\\frac{QK^T}{\\sqrt{d}}$　（公式）\r\n\n",
)
Both = tuple[Unigram, Tokenizer]


def both(folder: Path) -> Both:
    theirs = Tokenizer.from_file(str(folder / "tokenizer.json"))
    theirs.add_special_tokens(list(SPECIAL))
    return Unigram(folder / "tokenizer.json", SPECIAL), theirs


def assert_alike(pair: Both, text: str) -> None:
    ours, theirs = pair
    expected = theirs.encode(text, add_special_tokens=False)
    assert ours.ids(text) == expected.ids
    ids, places = ours.located(text)
    assert (ids.tolist(), [*map(tuple, places.tolist())]) == (expected.ids, expected.offsets)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Both:
    folder = tmp_path_factory.mktemp("tiny")
    e5.convert(write_tiny(folder / "tiny.bin"), folder / "model")
    return both(folder / "model")


@pytest.mark.parametrize("text", ODD)
def test_odd_texts_are_cut_alike(tiny: Both, text: str) -> None:
    assert_alike(tiny, text)


@given(st.text(alphabet="ab～~: \n\t\u200b\u3000旋转位置编码zeroＡﬁ\x07\u0301▁字", max_size=40))
@hypothesis_settings(max_examples=300, deadline=None)
def test_anything_is_cut_alike(tiny: Both, text: str) -> None:
    assert_alike(tiny, text)


@pytest.mark.slow
def test_pages_are_cut_alike_by_the_real_vocabulary(model_settings: Settings) -> None:
    pair = both(locate(model_settings.embedder, model_settings.models))
    pages = sorted((ROOT / "corpus").rglob("*.md"))[::9]
    assert len(pages) > 20
    for text in (*ODD, *(page.read_text(encoding="utf-8") for page in pages)):
        assert_alike(pair, text)
