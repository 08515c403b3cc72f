"""Lines that were wrapped are one sentence; lines that stand for themselves stay apart."""

import pytest

from rag.text.markdown import parse
from rag.text.sentences import in_one_line, units

WRAPPED = (
    "Gradient checkpointing keeps only some of the activations of the forward\n"
    "pass and computes the others again in the backward pass, which trades\n"
    "about a third more computation for memory. It helps most with long\n"
    "sequences.\n"
)
WRAPPED_CHINESE = (
    "流水线并行把模型按层切成几段放到不同的卡\n上，微批次依次流过各段，因此会出现气泡。气\n"
    "泡的比例约等于段数减一除以微批次数。\n"
)
LOG = (
    "2026-01-01 12:00:03 INFO worker started with pid 4711 on host a\n"
    "2026-01-01 12:00:04 INFO worker finished after 12 seconds on host b\n"
    "2026-01-01 12:00:09 WARN retry number three of the same task on host\n"
)


def sentences(text: str) -> list[str]:
    return [text[unit.start : unit.end] for unit in units(text, parse(text))]


def test_a_wrapped_sentence_is_one() -> None:
    first, second = sentences(WRAPPED)
    assert in_one_line(first).endswith("backward pass, which trades about a third more computation for memory.")
    assert in_one_line(second) == "It helps most with long sequences."
    first, second = sentences(WRAPPED_CHINESE)
    assert in_one_line(first) == "流水线并行把模型按层切成几段放到不同的卡上，微批次依次流过各段，因此会出现气泡。"
    assert in_one_line(second) == "气泡的比例约等于段数减一除以微批次数。"


@pytest.mark.parametrize(
    "text",
    [
        LOG,
        "默认端口 7861\n调试端口 7862\n",
        "第 14 周，缓存服务升级到新版，老马手工改了三处配置。\n第 15 周，实习生写了压测脚本，延迟从九十六个起陡增。\n"
        "第 16 周，八张卡到货，一张的风扇有异响，已经退换。\n",
        "优化器怎么选，权重衰减和 L2 正则的差别在哪里，先画出更新式再讲。\n完整对比\n",
        "上三角是亮的，说明看见了后面的词（解码器要加掩码）\n代码级\n",
        "岗位要求熟悉奖励模型的设计和训练，能独立完成全流程开发，有性能调优的经验。\n下面是整理的题目。\n",
        "床前明月光\n疑是地上霜\n",
        "小张：今天把训练脚本跑通了，显存刚好够用没有溢出\n小李：那就先这样，明天再看看数据加载为什么这么慢\n",
        "第一行写得相当长，末尾有两个空格表示换行，所以不连着  \n第二行也写得相当长，但它是另外一行，自己成一句\n",
    ],
)
def test_lines_that_stand_for_themselves_stay_apart(text: str) -> None:
    assert sentences(text) == [line.strip() for line in text.splitlines()]


def test_a_sentence_that_was_wrapped_once_is_one() -> None:
    once = "流水线并行把模型按层切成几段放到不同的卡\n上，微批次依次流过各段，因此会出现气泡。\n"
    assert sentences(once) == [once.strip()]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("见 https://example.org/a?b=c&d=e 的说明。", 1),
        ("这里 a!=b 才进入分支。", 1),
        ("真的吗?当然!是的。", 3),
        ("Really? Yes! Of course.", 3),
    ],
)
def test_marks_within_words_end_nothing(text: str, count: int) -> None:
    assert len(sentences(text)) == count


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("**什么是缓存？** 它保存键。", ["**什么是缓存？**", "它保存键。"]),
        ("__Where?__ In /var/log.", ["__Where?__", "In /var/log."]),
        ("**别删！！**删了就没了。**甲。乙。**丙。", ["**别删！！**", "删了就没了。", "**甲。", "乙。**", "丙。"]),
        ("先备份。**再删。**", ["先备份。", "**再删。**"]),
        ("先备份！**再删**即可。", ["先备份！", "**再删**即可。"]),
    ],
)
def test_emphasis_ends_with_the_sentence_that_it_closes(text: str, parts: list[str]) -> None:
    assert sentences(text) == parts


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("分布式训练把优化器状态切到所\n有卡上，每张卡只保留自己的那\n一份，需要时再要。\n", 1),
        ("The optimizer state is sharded\nover all ranks, so that each of\nthem keeps only its own part.\n", 1),
        ("The fog comes in, quiet\non little cat feet.\nIt sits looking\nover harbor and city\n", 4),
        ("华东算力中心有限公司\n上海市浦东新区张江路 88 号\n三号楼五层\n", 3),
    ],
)
def test_narrow_lines_are_wrapped_where_all_are_filled(text: str, count: int) -> None:
    assert len(sentences(text)) == count


def test_very_many_marks_in_a_line_take_no_long_time() -> None:
    assert len(sentences("甲。**" * 40_000 + "乙。")) == 40_001
