"""Embedders: unit rows in the order given, nothing cut silently, no code of a model's own."""

import json
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from rag.embedding import Embedder, SentenceTransformerEmbedder, embedder_identity, load_embedder
from rag.embedding.embedder import wordy_tokens
from rag.errors import ModelError
from rag.models import e5
from rag.settings import Precision, Settings
from tests.rag.models.e5_oracle import write_tiny

LONG = "旋转位置编码" * 100


@pytest.fixture(scope="module")
def tiny_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tiny")
    e5.convert(write_tiny(folder / "tiny.bin"), folder / "model")
    return folder / "model"


@pytest.fixture(scope="module")
def tiny(tiny_folder: Path) -> Embedder:
    return load_embedder(Settings(embedder=str(tiny_folder), precision=Precision.FLOAT32))


def test_rows_are_unit_and_in_the_order_given(tiny: Embedder) -> None:
    texts = [f"旋转{'位置编码' * (number % 7)} a{'b' * (number % 5)}" for number in range(40)]
    seen: list[tuple[int, int]] = []
    vectors = tiny.embed_passages(texts, progress=lambda done, total: seen.append((done, total)))
    assert vectors.shape == (40, tiny.dimension) == (40, 32)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    for row in (0, 6, 20, 39):
        np.testing.assert_allclose(vectors[row], tiny.embed_passages([texts[row]])[0], atol=1e-5)
    assert seen[-1] == (40, 40)
    assert seen == sorted(seen)


def test_nothing_gives_no_rows(tiny: Embedder) -> None:
    assert tiny.embed_passages([]).shape == (0, 32)
    assert tiny.count_tokens([]) == []


def test_a_query_is_one_unit_vector_and_not_a_passage(tiny: Embedder) -> None:
    vector = tiny.embed_query("旋转位置编码")
    assert vector.shape == (32,)
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-6)
    assert not np.allclose(vector, tiny.embed_passages(["旋转位置编码"])[0], atol=1e-3)


def test_spans_are_where_the_tokens_of_a_text_stand(tiny: Embedder) -> None:
    texts = ["旋转位置编码", "a", ""]
    spans = tiny.token_spans(texts)
    encoded = dict(tiny.encode_passages(texts[:2]))
    assert [len(found) for found in spans] == [len(encoded[0].token_ids), len(encoded[1].token_ids), 0]
    assert [texts[0][start:end] for start, end in spans[0]][-2:] == ["位置", "编码"]
    assert tiny.token_spans([]) == []


def test_wordy_tokens_are_those_with_a_letter_or_digit() -> None:
    texts = ["▁", ",", "▁a", "的", "7)", "##!", "▁->", "½", "<s>"]
    wordy = wordy_tokens({text: number for number, text in enumerate(texts)}, [8])
    assert [text for text, is_wordy in zip(texts, wordy, strict=True) if is_wordy] == ["▁a", "的", "7)", "½"]


def test_punctuation_is_neither_encoded_nor_located_and_yet_part_of_the_vector(tiny: Embedder) -> None:
    with_marks, without = ": 旋转: 位置～ 编码 :", "旋转 位置 编码"
    (marked,), (plain,) = tiny.encode_queries([with_marks]), tiny.encode_queries([without])
    assert marked.token_ids.tolist() == plain.token_ids.tolist()
    assert [with_marks[start:end].strip() for start, end in tiny.token_spans([with_marks])[0]] == without.split()
    assert marked.others is not None
    assert marked.others.shape == (8, 32)  # ▁ : [▁旋转] : ▁ [位置] ～ ▁ [编码] ▁ :
    np.testing.assert_allclose(marked.vector, tiny.embed_query(with_marks), atol=1e-6)
    assert not np.allclose(marked.vector, plain.vector, atol=1e-3)
    assert tiny.encode_queries([": ～"])[0].tokens.shape == (0, 32)
    assert tiny.token_spans([": ～"])[0].shape == (0, 2)


def test_an_encoded_text_has_its_vector_and_a_unit_row_for_each_token_of_its_own(tiny: Embedder) -> None:
    # <s> ▁query : ▁旋转 位置 编码 </s>
    encoded = tiny.encode_queries(["旋转位置编码"])[0]
    np.testing.assert_allclose(encoded.vector, tiny.embed_query("旋转位置编码"), atol=1e-6)
    assert encoded.tokens.shape == (3, 32)
    assert len(set(encoded.token_ids.tolist())) == 3
    np.testing.assert_allclose(np.linalg.norm(encoded.tokens, axis=1), 1, atol=1e-6)
    assert tiny.encode_queries([""])[0].tokens.shape == (0, 32)


def test_questions_encoded_together_are_as_each_alone(tiny: Embedder) -> None:
    texts = ["旋转位置编码", "", "a"]
    assert tiny.encode_queries([]) == []
    for text, together in zip(texts, tiny.encode_queries(texts), strict=True):
        (alone,) = tiny.encode_queries([text])
        np.testing.assert_allclose(together.vector, alone.vector, atol=1e-5)
        np.testing.assert_allclose(together.tokens, alone.tokens, atol=1e-5)
        assert together.token_ids.tolist() == alone.token_ids.tolist()


def test_encoded_passages_are_those_that_are_embedded(tiny: Embedder) -> None:
    texts = [f"旋转{'位置编码' * (number % 7)} a{'b' * (number % 5)}" for number in range(40)]
    found = dict(tiny.encode_passages(texts))
    assert sorted(found) == list(range(40))
    vectors = tiny.embed_passages(texts)
    alone = tiny.encode_queries([texts[6]])[0]
    for row, encoded in found.items():
        np.testing.assert_allclose(encoded.vector, vectors[row], atol=1e-5)
    assert found[6].token_ids.tolist() == alone.token_ids.tolist()  # without the prefixes, which differ
    assert not np.allclose(found[6].tokens, alone.tokens, atol=1e-3)


def test_a_model_that_takes_the_first_token_has_no_tokens_to_compare(tiny_folder: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(tiny_folder, tmp_path / "model"))
    pooling = folder / "1_Pooling" / "config.json"
    pooling.write_text(json.dumps({"word_embedding_dimension": 32, "pooling_mode_cls_token": True}))
    encoded = load_embedder(Settings(embedder=str(folder), precision=Precision.FLOAT32)).encode_queries(["旋转"])[0]
    assert encoded.tokens.shape == (0, 32)
    assert np.linalg.norm(encoded.vector) == pytest.approx(1, abs=1e-6)


def test_tokens_are_counted_with_prefix_and_special_tokens(tiny: Embedder) -> None:
    # <s> ▁passage : ▁旋转 位置 编码 </s>
    assert tiny.count_tokens(["旋转位置编码", "旋转"]) == [7, 5]
    assert tiny.max_tokens == 64
    assert tiny.count_tokens([LONG])[0] > 64


def test_a_long_passage_is_refused_and_a_long_query_cut(tiny: Embedder) -> None:
    with pytest.raises(ModelError, match=r"\d+ tokens, .* takes 64"):
        tiny.embed_passages(["旋转", LONG])
    np.testing.assert_allclose(tiny.embed_query(LONG), tiny.embed_query(LONG + "zero"), atol=1e-6)
    assert tiny.count_tokens([LONG])[0] > 64, "cutting a query must not make the tokenizer cut for good"


def test_lone_surrogates_do_not_break_it(tiny: Embedder) -> None:
    assert np.isfinite(tiny.embed_query("a\udc80b")).all()
    assert np.isfinite(tiny.embed_passages(["a\ud800"])).all()


def test_threads_share_one_embedder(tiny: Embedder) -> None:
    expected = {text: tiny.embed_query(text) for text in ("zero", "旋转", "编码 a b", LONG)}
    wrong: list[object] = []

    def ask(text: str) -> None:
        try:
            for _ in range(10):
                assert tiny.count_tokens([LONG])[0] > 64
                np.testing.assert_allclose(tiny.embed_query(text), expected[text], atol=1e-6)
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=ask, args=(text,)) for text in expected for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_both_precisions_agree(tiny_folder: Path, tiny: Embedder) -> None:
    half = load_embedder(Settings(embedder=str(tiny_folder), precision=Precision.BFLOAT16))
    assert half.identity == tiny.identity
    assert float(half.embed_query("旋转位置编码") @ tiny.embed_query("旋转位置编码")) > 0.99
    assert np.linalg.norm(half.embed_query("zero")) == pytest.approx(1, abs=1e-6)


def test_identity_follows_the_content(tiny_folder: Path, tiny: Embedder, tmp_path: Path) -> None:
    settings = Settings(embedder=str(tiny_folder))
    assert tiny.identity == embedder_identity(settings)
    copy = tmp_path / "model"
    shutil.copytree(tiny_folder, copy)
    assert embedder_identity(Settings(embedder=str(copy))) == tiny.identity
    with (copy / "model.safetensors").open("r+b") as file:
        file.seek(-1, 2)
        file.write(b"\x01")
    assert embedder_identity(Settings(embedder=str(copy))) != tiny.identity


def test_identity_of_a_pinned_model_needs_no_model(tmp_path: Path) -> None:
    assert embedder_identity(Settings(models=tmp_path)) == "multilingual-e5-small@1571fc982750.1"
    assert not list(tmp_path.iterdir())


def test_a_missing_pinned_model_says_how_to_fetch_it(tmp_path: Path) -> None:
    with pytest.raises(ModelError) as caught:
        load_embedder(Settings(models=tmp_path))
    assert "python -m rag models fetch multilingual-e5-small" in caught.value.hint


def test_a_chat_model_is_no_embedder(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="chat model"):
        embedder_identity(Settings(embedder="qwen2.5-coder-0.5b-instruct", models=tmp_path))


@pytest.mark.parametrize("name", ["./nowhere", "/nowhere/at/all", "a/b/c"])
def test_a_missing_folder(name: str) -> None:
    with pytest.raises(ModelError, match="no folder"):
        load_embedder(Settings(embedder=name))


def test_an_unreachable_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(ModelError, match="model hub") as caught:
        load_embedder(Settings(embedder="nobody/no-such-model-here"))
    assert "multilingual-e5-small" in caught.value.hint


def test_code_of_the_model_is_refused(tiny_folder: Path, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    shutil.copytree(tiny_folder, folder)
    (folder / "evil.py").write_text("raise SystemExit('ran')")
    (folder / "modules.json").write_text(json.dumps([{"idx": 0, "name": "0", "path": "", "type": "evil.Module"}]))
    with pytest.raises(ModelError, match="code of its own"):
        load_embedder(Settings(embedder=str(folder)))


@pytest.mark.parametrize("damage", ["modules.json", "model.safetensors", "tokenizer.json", "config.json"])
def test_a_broken_folder(tiny_folder: Path, tmp_path: Path, damage: str) -> None:
    folder = tmp_path / "model"
    shutil.copytree(tiny_folder, folder)
    (folder / damage).write_bytes(b"{")
    with pytest.raises(ModelError):
        load_embedder(Settings(embedder=str(folder)))


def test_e5_from_a_hub_gets_the_prompts_it_was_trained_with(tiny_folder: Path, tmp_path: Path) -> None:
    folder = tmp_path / "models--intfloat--multilingual-e5-small" / "snapshots" / "0"
    shutil.copytree(tiny_folder, folder)
    (folder / "config_sentence_transformers.json").unlink()
    embedder = SentenceTransformerEmbedder(folder, identity="x", precision=Precision.FLOAT32)
    assert embedder.count_tokens(["旋转"]) == [5]
    bare = SentenceTransformerEmbedder(shutil.copytree(folder, tmp_path / "other"), identity="x")
    assert bare.count_tokens(["旋转"]) == [3]


def test_importing_and_naming_loads_nothing_heavy() -> None:
    code = (
        "import sys, rag.embedding as e, rag.settings as s; e.embedder_identity(s.Settings());"
        "print([name for name in ('torch', 'transformers', 'sentence_transformers') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_loading_and_embedding_says_nothing(tiny_folder: Path) -> None:
    code = (
        "import sys, rag.embedding as e, rag.settings as s; m = e.load_embedder(s.Settings(embedder=sys.argv[1]));"
        "m.embed_query('a'); m.embed_passages(['b'] * 40); m.count_tokens(['旋转位置编码' * 100])"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tiny_folder)], capture_output=True, text=True, check=True)
    assert done.stdout == ""
    assert done.stderr == ""


@pytest.mark.slow
def test_the_real_model_knows_chinese_from_english(embedder: Embedder) -> None:
    passages = embedder.embed_passages(
        [
            "旋转位置编码通过旋转查询和键向量注入相对位置信息。",
            "混合精度训练用损失缩放避免梯度下溢。",
            "宫保鸡丁要先把花生米炸熟。",
        ]
    )
    for question, best in (
        ("Why is loss scaling needed?", 1),
        ("RoPE 是怎么工作的", 0),
        ("how to cook chicken", 2),
    ):
        assert int(np.argmax(passages @ embedder.embed_query(question))) == best


@pytest.mark.slow
def test_facts_of_the_real_model(embedder: Embedder) -> None:
    assert (embedder.dimension, embedder.max_tokens) == (384, 512)
    assert embedder.identity == embedder_identity(Settings())
    assert embedder.count_tokens(["中" * 2000])[0] > 512
