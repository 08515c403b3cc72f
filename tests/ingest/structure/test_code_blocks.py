"""Code of scraped pages: found, set on lines of its own, fenced. Prose and formulas are not code."""

import pytest

from ingest.structure.scraped.code_blocks import fence_code, split_glued_fence
from rag.text.mapped import MappedText
from tests.ingest.made_up import cleaned


def fenced(*lines: str) -> list[str]:
    return [line.text for line in fence_code([MappedText.copied(line, 0) for line in lines])]


def test_unfenced_code_is_fenced_as_it_stands() -> None:
    code = ["def scale(x, factor=2):", "y = x * factor", "return y"]
    assert fenced("代码如下", *code, "以上。") == ["代码如下", "```", *code, "```", "以上。"]


def test_lost_line_breaks_are_found() -> None:
    line = "torch.manual_seed(seed) np.random.seed(seed) random.seed(seed)"
    assert fenced(line) == ["```", *line.split(" "), "```"]


def test_joined_lines_with_chinese_comments() -> None:
    line = "model = build() # 建立模型 model.eval() with torch.no_grad(): y = model(x)"
    assert fenced(line) == [
        "```", "model = build()", "# 建立模型", "model.eval()", "with torch.no_grad():", "y = model(x)", "```",
    ]  # fmt: skip


def test_glued_literals() -> None:
    assert fenced("cudnn.benchmark = Falsecudnn.enabled = True") == [
        "```", "cudnn.benchmark = False", "cudnn.enabled = True", "```",
    ]  # fmt: skip


def test_a_command_glued_to_its_comment() -> None:
    assert fenced("# 导出并比较两种精度trtexec --onnx=a.onnx --fp16") == [
        "```", "# 导出并比较两种精度", "trtexec --onnx=a.onnx --fp16", "```",
    ]  # fmt: skip


def test_a_statement_over_several_lines() -> None:
    code = ["plot(values,", "labels=names,", "color='red')"]
    assert fenced(*code) == ["```", *code, "```"]


def test_comment_lines_belong_to_the_code_after_them() -> None:
    assert fenced("# 优化器", "opt = SGD(model.parameters(), lr=0.1)") == [
        "```", "# 优化器", "opt = SGD(model.parameters(), lr=0.1)", "```",
    ]  # fmt: skip
    assert fenced("# 只是标题", "然后是正文。") == ["# 只是标题", "然后是正文。"]


@pytest.mark.parametrize(
    "line",
    [
        "学习率设为 lr=0.1 即可。",
        "GPT-4 (2023)",
        "L = softmax(x)x",
        "loss: 0.3",
        "Transformer",
        "A: Because it is cheaper. See below.",
        "Gradient checkpointing (Chen et al., 2016) trades compute for memory.",
        "x^2 + y^2",
        "| a | b |",
        "- item (one)",
        "1. first",
        "(a)",
        "...",
    ],
)
def test_prose_is_not_code(line: str) -> None:
    assert "```" not in fenced(line)


def test_existing_fences_stay() -> None:
    lines = ["```python", "x = 1", "", "不是代码", "```", "正文"]
    assert fenced(*lines) == lines


def test_an_unclosed_fence_of_data_ends_where_its_brackets_close() -> None:
    lines = ["配置：", "```", "{", '"stage": 2,', '"lr": {"max": 1}', "}", "说明在后面。"]
    assert fenced(*lines) == [*lines[:6], "```", lines[6]]


def test_an_unclosed_fence_of_code_ends_with_the_page() -> None:
    assert fenced("```", "x = 1", "y = 2") == ["```", "x = 1", "y = 2", "```"]


def test_a_fence_glued_to_a_sentence() -> None:
    assert [line.text for line in split_glued_fence(MappedText.copied("例如：```", 0))] == ["例如：", "```"]
    assert [line.text for line in split_glued_fence(MappedText.copied("用 ```x``` 表示", 0))] == ["用 ```x``` 表示"]


def test_on_a_page_code_is_on_its_own_lines() -> None:
    page = "标题\n1、怎么固定随机数？\n答案：\n固定种子：\nrandom.seed(7) np.random.seed(7)\n这样就行。\n"
    assert "```\nrandom.seed(7)\nnp.random.seed(7)\n```" in cleaned(page)


def test_markdown_code_is_not_touched() -> None:
    page = "# 页\n\n```python\nx = f(1) y = g(2)\n# 说明\\*\n- \n扫码领取\n```\n\nx = f(1)\n"
    assert cleaned(page, "page.md") == page.rstrip("\n")


@pytest.mark.timeout(30)
def test_hostile_lines_are_done_quickly() -> None:
    """Deep nesting, long chains, many statements on a line: none may take long or exhaust the stack."""
    lines = [
        "(" * 1_900, "a" + ".b" * 900, "-" * 1_900 + "1", "# " + "中a" * 100_000, "[" * 400 + "]" * 400,
        " ".join(f"a{n}=f({n})" for n in range(150)),
        "x = '" + "a" * 1_000, "a=1 " * 490, "=" * 400_000, "f(" * 900 + ")" * 900,
    ]  # fmt: skip
    assert len(fenced(*lines)) >= len(lines)
    assert len(fenced(*[f"x{n} = [{n}," for n in range(3_000)])) >= 3_000
