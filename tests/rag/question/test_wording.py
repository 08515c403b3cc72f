"""Questions as people type them, put in the words of the material."""

from pathlib import Path

import pytest

from ingest.sync import sync
from rag.answer.assistant import Assistant
from rag.index import DiskIndex, open_index
from rag.index.manifest import Manifest
from rag.index.vocabulary import pinyin
from rag.language.messages import unwrapped
from rag.question import wording
from rag.question.wording import LIKE_PINYIN, in_the_materials_words
from rag.settings import ChatModelName, Settings
from rag.types import Role, Turn
from tools.hash_embedder import HashEmbedder

PAGES = {
    "decoding.md": "# 投机解码为什么能加速？\n\n投机解码（speculative decoding）让小模型先猜，大模型一次验证。\n",
    "training.md": "---\ntags: [梯度消失, 梯度爆炸, 梯度累积, 梯度同步, 梯度裁剪]\n---\n"
    "# 学习率预热解决什么？\n\n学习率预热（warmup）防止开头的梯度太大。\n",
    "qlora.md": "# QLoRA 的 pipeline 和 transformer\n\nQLoRA 用 NF4，transformer 的 pipeline 也行，ResNet 在这里。\n",
    "flash.md": "# FlashAttention 快在哪里？\n\nFlashAttention 少读写显存。\n",
    "rag.md": "---\nasked_as: [检索增强生成（RAG）是什么, 生成式模型]\n---\n# RAG 的流程\n\nRAG 先查资料，再写答案。\n",
} | {f"{word}.md": f"# {word}问答\n\n{word}问答用 RAG 查{word}的资料。\n" for word in ("法律", "医疗", "客服", "教学")}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> DiskIndex:
    folder: Path = tmp_path_factory.mktemp("wording")
    documents = folder / "documents"
    documents.mkdir()
    for name, text in PAGES.items():
        (documents / name).write_text(text, encoding="utf-8")
    embedder = HashEmbedder()
    sync(Settings(index=folder / "index"), lambda: embedder, [documents], identity=embedder.identity)
    return open_index(folder / "index")


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("touji jiema 为什么快", "投机解码 为什么快"),
        ("tou ji jie ma 为什么快", "投机解码 为什么快"),
        ("xuexilv yure", "学习率预热"),
        ("why is toujijiema fast", "why is 投机解码 fast"),
        ("transfomer 的 pipline", "transformer 的 pipeline"),
        ("梯渡消失怎么办", "梯度消失怎么办"),
        ("检索增强生成是什么", "RAG 是什么"),
        ("生成是什么", "生成是什么"),
        ("懂不懂 QLoRA 的 pipeline", "QLoRA 的 pipeline"),
        ("手撕 transformer", "手写 transformer"),
        # What is spelt right, or is not the material's, stays as it is.
        ("RetNet 是什么", "RetNet 是什么"),
        ("QLoRA 的 transformer", "QLoRA 的 transformer"),
        ("股市明天会涨吗", "股市明天会涨吗"),
        ("can you change the gate", "can you change the gate"),
        ("", ""),
    ],
)
def test_words_that_the_material_writes_otherwise(index: DiskIndex, typed: str, meant: str) -> None:
    assert in_the_materials_words(index, typed) == meant


def test_how_words_sound_is_read_where_a_word_is_unknown(index: DiskIndex) -> None:
    vars(index).pop("sounds", None)
    for question in ("Why does attention scale with the transformer pipeline?", "投机解码为什么能加速？"):
        in_the_materials_words(index, question)
        assert "sounds" not in vars(index)
    in_the_materials_words(index, "touji jiema")
    assert "sounds" in vars(index)


def test_what_looks_like_pinyin_is_all_pinyin() -> None:
    """Interjections without a vowel, such as 呣, apart."""
    spoken = {syllable for character in map(chr, range(0x4E00, 0xA000)) for syllable in pinyin(character)}
    syllables = sorted(syllable for syllable in spoken if syllable.isascii() and set(syllable) & set("aeiouv"))
    assert len(syllables) > 380
    assert [each for each in syllables if not LIKE_PINYIN.fullmatch(each)] == []
    pairs = (first + second for first in syllables for second in syllables)
    assert [pair for pair in pairs if not LIKE_PINYIN.fullmatch(pair)] == []


def test_a_term_that_the_material_seldom_uses_brings_its_translation(index: DiskIndex) -> None:
    """The pair is learned from 投机解码（speculative decoding）."""
    assert index.vocabulary.translations["speculative decoding"] == "投机解码"
    assert index.vocabulary.translations["投机解码"] == "speculative decoding"


def test_a_question_in_english_stays_so_where_the_material_has_english(
    index: DiskIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wording, "_uses", lambda _, term: 1 if term.isascii() else 9)
    question = "why is speculative decoding lossless"
    assert in_the_materials_words(index, question) == f"{question} 投机解码"
    monkeypatch.setattr(Manifest, "writes", lambda _, *, chinese: not chinese)
    assert in_the_materials_words(index, question) == question
    assert in_the_materials_words(index, "speculative decoding 为什么无损").endswith(" 投机解码")


@pytest.mark.parametrize(
    ("question", "inner"),
    [
        ("要是被问到卷积为啥省参数 该怎么说", "卷积为啥省参数"),
        ("面试官让我讲讲 LoRA 的秩", "LoRA 的秩"),
        ("请问 LoRA 的秩怎么选", "LoRA 的秩怎么选"),
        ("how should i explain in an interview what loss scaling does", "what loss scaling does"),
        ("问题出在哪一层", "问题出在哪一层"),
        ("这题该怎么答", "这题该怎么答"),
        ("面试官让我讲讲 LoRA", "LoRA"),
        ("面试官问我缺点怎么答", "面试官问我缺点怎么答"),
        ("面试官问你最大的缺点怎么答", "面试官问你最大的缺点怎么答"),
        ("面试官问什么是早停怎么答", "什么是早停"),
    ],
)
def test_what_is_said_around_a_question(question: str, inner: str) -> None:
    assert unwrapped(question) == inner


def test_a_follow_up_leans_on_what_the_question_before_it_meant(index: DiskIndex) -> None:
    settings = Settings(index=index.folder.parent.parent, llm=ChatModelName.EXTRACTIVE)
    history = [Turn(Role.USER, "touji jiema 为什么快"), Turn(Role.ASSISTANT, "小模型先猜。")]
    trace = Assistant(settings, HashEmbedder(), index=index).prepare("那它呢", history)
    assert trace.question.standalone.subject == "投机解码 为什么快"
