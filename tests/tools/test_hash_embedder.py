"""The checksums of the embedder without a model are those of zlib."""

import zlib

import pytest

from tools.hash_embedder import SIZES, HashEmbedder, _codes


@pytest.mark.parametrize("text", ["", "a", "é中😀x", "梯度累积 gradient accumulation", "\ud800?"])
def test_codes_are_those_of_zlib(text: str) -> None:
    for size, codes in zip(SIZES, _codes(text), strict=True):
        grams = [text[start : start + size] for start in range(len(text) - size + 1)]
        assert codes.tolist() == [zlib.crc32(gram.encode("utf-8", "replace")) for gram in grams]


def test_a_text_has_one_vector_alone_and_among_others() -> None:
    embedder = HashEmbedder()
    encoded = embedder.encode_queries(["梯度 累积 gradient"])[0]
    assert encoded.tokens.tolist() == [embedder.embed_query(term).tolist() for term in ("梯度", "累积", "gradient")]
