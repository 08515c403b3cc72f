"""Our encoder against sentence-transformers, which runs the same folders."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from rag.embedding import BertEmbedder, Embedder, SentenceTransformerEmbedder, load_embedder
from rag.embedding.bert_embedder import is_rebuilt
from rag.models import e5, locate
from rag.settings import Precision, Settings
from tests.rag.models.e5_oracle import write_tiny

# Chinese, English and code, of one character to some hundred tokens.
PIECES = (
    "旋转位置编码通过旋转查询和键向量注入相对位置信息。",
    "Loss scaling keeps small gradients from becoming zero in FP16.",
    "def f(x):\n\treturn x ** 2  # 平方\n",
    "| 模型 | 参数 |\n|---|---|\n| A | 7B |",
    "$\\frac{QK^T}{\\sqrt{d}}$　（公式）",
    "a <s> b </s> <unk> <pad>",
    "Ａﬁ\x07 e\u0301 \u200b～ 🙂 \ud800",
)
MIXED = ["", " ", *PIECES, *(" ".join(PIECES[: number % 7]) + str(number) for number in range(44))]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("tiny")
    e5.convert(write_tiny(place / "tiny.bin", spare_positions=512), place / "model")
    return place / "model"


def assert_alike(ours: Embedder, theirs: Embedder, texts: list[str], least: float) -> None:
    assert ours.dimension == theirs.dimension
    assert ours.max_tokens == theirs.max_tokens
    assert ours.count_tokens(texts) == theirs.count_tokens(texts)
    for places, expected_places in zip(ours.token_spans(texts), theirs.token_spans(texts), strict=True):
        np.testing.assert_array_equal(places, expected_places)
    encoded, expected = dict(ours.encode_passages(texts)), dict(theirs.encode_passages(texts))
    pairs = [(encoded[place], expected[place]) for place in range(len(texts))]
    some = texts[::8]
    pairs += zip(ours.encode_queries(some), theirs.encode_queries(some), strict=True)
    for one, other in pairs:
        assert one.token_ids.tolist() == other.token_ids.tolist()
        assert float(one.vector @ other.vector) >= least
        assert one.tokens.shape == other.tokens.shape
        assert np.all(np.sum(one.tokens * other.tokens, axis=1) >= least - 0.01)


def test_a_rebuilt_folder_is_run_by_our_encoder_and_says_what_sentence_transformers_says(folder: Path) -> None:
    ours = load_embedder(Settings(embedder=str(folder), precision=Precision.FLOAT32))
    assert isinstance(ours, BertEmbedder)
    theirs = SentenceTransformerEmbedder(folder, identity="x", precision=Precision.FLOAT32)
    texts = [text for text in MIXED if theirs.count_tokens([text])[0] <= theirs.max_tokens]
    assert_alike(ours, theirs, texts, 0.99999)
    long = "旋转" * 2_000
    assert float(ours.embed_query(long) @ theirs.embed_query(long)) > 0.99999


@pytest.mark.slow
@pytest.mark.parametrize(("precision", "step"), [(Precision.FLOAT32, 5), (Precision.AUTO, 1)])
def test_the_real_model_says_what_sentence_transformers_says(
    model_settings: Settings, precision: Precision, step: int
) -> None:
    place = locate(model_settings.embedder, model_settings.models)
    assert len(MIXED) > 50
    assert_alike(
        BertEmbedder(place, identity="x", precision=precision),
        SentenceTransformerEmbedder(place, identity="x", precision=Precision.FLOAT32),
        MIXED[::step],
        0.9999 if precision is Precision.FLOAT32 else 0.998,
    )


@pytest.mark.parametrize(
    ("file", "change"),
    [
        ("config.json", {"hidden_act": "relu"}),
        ("config.json", {"tokenizer_class": "BertTokenizer"}),
        ("config.json", {"model_type": "xlm-roberta"}),
        ("config_sentence_transformers.json", {"prompts": {}}),
        ("config_sentence_transformers.json", {"prompts": None}),
        ("config_sentence_transformers.json", {"prompts": {"query": None, "document": ""}}),
        ("sentence_bert_config.json", {"do_lower_case": True}),
        ("1_Pooling/config.json", {"pooling_mode_cls_token": True}),
    ],
)
def test_whatever_says_otherwise_is_left_to_sentence_transformers(
    folder: Path, tmp_path: Path, file: str, change: dict[str, object]
) -> None:
    assert is_rebuilt(folder)
    for source in folder.rglob("*.json"):
        place = tmp_path / source.relative_to(folder)
        place.parent.mkdir(exist_ok=True)
        place.write_bytes(source.read_bytes())
    changed = tmp_path / file
    changed.write_text(json.dumps(json.loads(changed.read_text()) | change))
    assert not is_rebuilt(tmp_path)


def test_a_question_to_it_imports_neither_torch_nor_sentence_transformers(folder: Path) -> None:
    code = (
        "import sys, rag.embedding as e, rag.settings as s; m = e.load_embedder(s.Settings(embedder=sys.argv[1]));"
        "m.embed_query('a'); import rag.reader.network, rag.practice.judge;"
        "heavy = {'torch', 'tokenizers', 'transformers', 'sentence_transformers', 'sklearn', 'scipy'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code, str(folder)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("multiplies", [True, False])
def test_it_computes_in_float32_where_the_processor_does_not_multiply_bytes(
    folder: Path, multiplies: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rag.embedding.encoder.multiplies_bytes", lambda: multiplies)
    ours = load_embedder(Settings(embedder=str(folder)))
    exact = load_embedder(Settings(embedder=str(folder), precision=Precision.FLOAT32))
    assert isinstance(ours, BertEmbedder)
    assert ours.computes_in == ("int8" if multiplies else "float32")
    assert np.array_equal(ours.embed_query(PIECES[0]), exact.embed_query(PIECES[0])) is not multiplies
