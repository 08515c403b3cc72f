"""Token vectors: coded, they score as they do uncoded; stored, they are what was coded."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from rag.embedding import Embedder, Encoded, bert_embedder, load_embedder
from rag.index.tokens import AT_ONCE, PER_BYTE, PassageTokens, TokenCodec, TokenIndex, load_tokens, save_tokens
from rag.models import e5
from rag.settings import Precision, Settings
from tests.rag.models.e5_oracle import write_tiny

DIMENSION = 64
CENTRE = 3 * np.eye(1, DIMENSION)[0].astype(np.float32)


def unit(rows: NDArray[np.float64]) -> NDArray[np.float32]:
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)


def text(seed: int, length: int) -> Encoded:
    """A made-up text whose tokens, as those of real models, all point a similar way."""
    random = np.random.default_rng(seed)
    tokens = unit(random.standard_normal((length, DIMENSION)) + CENTRE * 2)
    return Encoded(tokens.mean(axis=0), tokens, random.integers(0, 50, length).astype(np.int32))


@pytest.fixture
def passages() -> list[Encoded]:
    return [text(seed, 5 + seed % 7) for seed in range(30)]


@pytest.fixture
def codec(passages: list[Encoded]) -> TokenCodec:
    return TokenCodec.make(np.concatenate([passage.tokens for passage in passages[:4]]).mean(axis=0))


@pytest.fixture
def index(passages: list[Encoded], codec: TokenCodec, tmp_path: Path) -> TokenIndex:
    save_tokens(codec, [codec.encode(passage) for passage in passages], tmp_path / "tokens")
    return load_tokens(tmp_path / "tokens")


def plain(question: Encoded, passages: list[Encoded], weights: list[float]) -> list[float]:
    return [
        sum(w * float((passage.tokens @ token).max()) for w, token in zip(weights, question.tokens, strict=True))
        / sum(weights)
        for passage in passages
    ]


def test_scores_are_those_of_the_vectors_before_coding(passages: list[Encoded], index: TokenIndex) -> None:
    question = text(99, 6)
    holding = [sum(token in passage.token_ids for passage in passages) for token in question.token_ids]
    weights = [float(np.log1p((30 - n + 0.5) / (n + 0.5))) for n in holding]
    np.testing.assert_allclose(index.scores(question, range(30)), plain(question, passages, weights), atol=0.03)


def test_vectors_are_unit_and_near_those_before_coding(passages: list[Encoded], index: TokenIndex) -> None:
    for number in (0, 7, 29):
        vectors = index.vectors(number)
        np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=2e-3)
        assert ((vectors * passages[number].tokens).sum(axis=1) > 0.92).all()


def test_scores_are_of_the_passages_asked_for_in_their_order(index: TokenIndex) -> None:
    question = text(99, 6)
    every = index.scores(question, range(30))
    np.testing.assert_allclose(index.scores(question, [7, 3, 29]), every[[7, 3, 29]], atol=1e-6)
    many = [number % 30 for number in range(3 * AT_ONCE + 1)]
    np.testing.assert_allclose(index.scores(question, many), every[many], atol=1e-6)
    assert index.scores(question, []).shape == (0,)


def test_a_rare_token_counts_for_more_than_a_common_one(codec: TokenCodec, tmp_path: Path) -> None:
    one, two = unit(np.eye(2, DIMENSION))
    rare = Encoded(one, np.stack([one]), np.asarray([8], np.int32))
    common = Encoded(two, np.stack([two]), np.asarray([9], np.int32))
    save_tokens(codec, [codec.encode(p) for p in (rare, common, common, common)], tmp_path / "tokens")
    both = Encoded(one, np.stack([one, two]), np.asarray([8, 9], np.int32))
    scores = load_tokens(tmp_path / "tokens").scores(both, [0, 1])
    assert scores[0] > scores[1] + 0.3


def test_a_passage_without_tokens_comes_last_and_a_question_without_finds_all_alike(
    codec: TokenCodec, passages: list[Encoded], tmp_path: Path
) -> None:
    nothing = Encoded(passages[0].vector, np.zeros((0, DIMENSION), np.float32), np.zeros(0, np.int32))
    save_tokens(codec, [codec.encode(p) for p in (nothing, passages[1], nothing)], tmp_path / "tokens")
    index = load_tokens(tmp_path / "tokens")
    scores = index.scores(text(99, 6), [0, 1, 2])
    assert scores[0] == scores[2] == -1 < scores[1]
    assert index.scores(text(99, 6), [2]).tolist() == [-1]
    assert len(set(index.scores(nothing, [0, 1, 2]).tolist())) == 1


def test_tokens_that_stand_nowhere_are_the_rarest(passages: list[Encoded], index: TokenIndex) -> None:
    question, rarest = text(99, 2), float(np.log1p(30.5 / 0.5))
    common = max(range(50), key=lambda token: sum(token in passage.token_ids for passage in passages))
    holding = sum(common in passage.token_ids for passage in passages)
    weight = float(np.log1p((30 - holding + 0.5) / (holding + 0.5)))
    for ids, weights in (([1_000, -5], [rarest, rarest]), ([1_000, common], [rarest, weight])):
        unknown = Encoded(question.vector, question.tokens, np.asarray(ids, np.int32))
        np.testing.assert_allclose(
            index.scores(unknown, range(30)), plain(unknown, passages, weights), atol=0.06, err_msg=str(ids)
        )


def test_no_passages_at_all(codec: TokenCodec, tmp_path: Path) -> None:
    save_tokens(codec, [], tmp_path / "tokens")
    index = load_tokens(tmp_path / "tokens")
    assert len(index) == 0
    assert index.scores(text(1, 3), []).shape == (0,)


def test_what_is_stored_is_what_was_coded_and_can_be_stored_again(
    passages: list[Encoded], codec: TokenCodec, index: TokenIndex, tmp_path: Path
) -> None:
    assert len(index) == 30
    for number, passage in enumerate(passages):
        coded, stored = codec.encode(passage), index.passage(number)
        for name in PassageTokens.__slots__:
            np.testing.assert_array_equal(getattr(stored, name), getattr(coded, name))
    save_tokens(index.codec, [index.passage(number) for number in range(30)], tmp_path / "again")
    for file in tmp_path.glob("tokens.*"):
        assert (tmp_path / file.name.replace("tokens", "again")).read_bytes() == file.read_bytes()


def test_coding_is_a_quarter_of_a_byte_a_number(passages: list[Encoded], codec: TokenCodec) -> None:
    coded = codec.encode(passages[5])
    assert coded.codes.shape == (len(passages[5].tokens), DIMENSION // PER_BYTE)
    again = TokenCodec.make(codec.centre)
    np.testing.assert_array_equal(again.rotation, codec.rotation)
    np.testing.assert_allclose(codec.rotation @ codec.rotation.T, np.eye(DIMENSION), atol=1e-5)


def test_a_part_scores_as_a_passage_of_its_tokens_would(
    passages: list[Encoded], codec: TokenCodec, index: TokenIndex, tmp_path: Path
) -> None:
    question = text(99, 6)
    halves = np.zeros((3, len(passages[6].token_ids)), np.bool_)
    halves[0, :4] = halves[1, 4:] = True
    whole = np.ones((1, halves.shape[1]), np.bool_)
    everything = index.scores(question, [6])
    np.testing.assert_allclose(index.part_scores(question, [6], [whole])[0], everything, rtol=1e-5)
    scores = index.part_scores(question, [6], [halves])[0]
    assert scores[:2].max() <= everything[0] + 1e-6
    assert scores[2] == -1
    # Where the parts speak of the last tokens only, the first ones belong to none.
    last = halves[:, 4:]
    np.testing.assert_allclose(index.part_scores(question, [6], [last[1:2]])[0], scores[1:2], rtol=1e-5)
    nothing = Encoded(question.vector, question.tokens[:0], question.token_ids[:0])
    assert index.part_scores(nothing, [6], [halves])[0].tolist() == [-1, -1, -1]


def test_sentences_score_as_by_all_their_tokens_but_those_without_a_letter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    e5.convert(write_tiny(tmp_path / "tiny.bin"), tmp_path / "model")
    settings = Settings(embedder=str(tmp_path / "model"), precision=Precision.FLOAT32)
    wordy = load_embedder(settings)
    monkeypatch.setattr(bert_embedder, "wordy_tokens", lambda vocabulary, special: np.arange(len(vocabulary)) > 3)
    every = load_embedder(settings)
    silent = [4, 7, 18, 19]  # "▁", ":", "～" and "~"
    heading, text = "旋转: 编码～\n", "：编码～ 旋转: a 旋转 ～～ 位置：编码, zero ~ 位置 :"
    sentences = [(0, 10), (10, 16), (16, len(text)), (13, 16)]
    [question] = wordy.encode_queries(["旋转 编码: a?"])
    codec = TokenCodec.make(dict(every.encode_passages([text]))[0].tokens.mean(axis=0))

    def index(embedder: Embedder) -> tuple[TokenIndex, NDArray[np.int32], NDArray[np.bool_]]:
        """With the ids of the passage's tokens, and the tokens of its text that each sentence holds."""
        encoded = dict(embedder.encode_passages([heading + text]))[0]
        save_tokens(codec, [codec.encode(encoded)], tmp_path / f"tokens{len(encoded.tokens)}")
        [spans] = embedder.token_spans([text])
        held = np.asarray([(spans[:, 0] < end) & (spans[:, 1] > start) for start, end in sentences])
        return load_tokens(tmp_path / f"tokens{len(encoded.tokens)}"), encoded.token_ids, held

    (few, few_ids, few_held), (all_, all_ids, all_held) = index(wordy), index(every)
    kept = ~np.isin(all_ids, silent)
    assert few_ids.tolist() == all_ids[kept].tolist()
    assert len(few_ids) < len(all_ids) - 8
    [expected] = all_.part_scores(question, [0], [all_held & kept[-all_held.shape[1] :]])
    np.testing.assert_allclose(few.part_scores(question, [0], [few_held])[0], expected, rtol=1e-6)
    assert expected[3] == -1 < expected[:3].min()
