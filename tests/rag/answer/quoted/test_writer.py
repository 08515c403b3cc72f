"""What is quoted reads as it stands in the source, however it was cut into passages."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rag.answer.quoted.choosing import choose_paragraphs
from rag.answer.quoted.opening import answer_first
from rag.answer.quoted.paragraphs import Paragraph, quotable
from rag.answer.quoted.ranking import SectionRanking
from rag.answer.quoted.sections import Section, in_sections, parts_of
from rag.answer.quoted.writer import write_quotes
from rag.index import open_index
from rag.text.page import PageSection
from rag.text.sentences import UnitKind
from tests.conftest import HashEmbedder
from tests.rag.library import ingest

SPOKEN = "".join(f"第{number}步先看数据，再看模型；最后看第{number}组结果，写进记录。" for number in range(40))
PAGE = f"# 怎么排查？\n\n## 口述\n{SPOKEN}\n\n## 展开\n### 另一节\n别的话。\n"


def spoken(folder: Path, embedder: HashEmbedder) -> tuple[Section, dict[str, str]]:
    """The spoken answer, which is longer than a passage."""
    ingest(folder, embedder, {"a.md": PAGE})
    storage = open_index(folder / "index").storage
    passages = storage.passages(list(dict.fromkeys(storage.document_numbers("a.md"))))
    paragraphs = [paragraph for passage in passages for paragraph in quotable(passage)]
    [section] = [one for one in in_sections("怎么排查？", paragraphs) if one.heading == "口述"]
    assert len(section.passages) > 1
    return section, {"a.md": storage.source("a.md") or ""}


def of_units(paragraphs: Sequence[Paragraph], values: Sequence[float]) -> tuple[tuple[float, ...], ...]:
    """How well units answer, alike for those of a paragraph."""
    return tuple((value,) * len(paragraph.units) for paragraph, value in zip(paragraphs, values, strict=True))


def test_a_line_over_several_passages_stays_one_line(tmp_path: Path, hash_embedder: HashEmbedder) -> None:
    section, sources = spoken(tmp_path, hash_embedder)
    written = write_quotes(section.paragraphs, sources)
    text = "".join(written.chunks).strip()
    assert "\n" not in text
    assert "".join(citation.quote for citation in written.citations) == SPOKEN


def test_a_spoken_answer_is_said_from_its_beginning(tmp_path: Path, hash_embedder: HashEmbedder) -> None:
    section, _ = spoken(tmp_path, hash_embedder)
    values = [*(0.0 for _ in section.paragraphs[1:]), 1.0]
    asked = replace(section, answering=of_units(section.paragraphs, values))
    assert answer_first(asked, "怎么排查").paragraphs == section.paragraphs


def test_the_rest_of_a_table_does_not_open(tmp_path: Path, hash_embedder: HashEmbedder) -> None:
    rows = "\n".join(f"| 第{number}行 | 这一行说明第{number}个指标取多少，以及什么时候取 |" for number in range(60))
    table = f"指标取多少要看用在哪里，下表逐行说。\n\n| 行 | 说明 |\n| --- | --- |\n{rows}\n\n最后看一眼总数。"
    ingest(tmp_path, hash_embedder, {"a.md": f"# 怎么取？\n\n## 指标\n\n{table}\n"})
    storage = open_index(tmp_path / "index").storage
    passages = storage.passages(list(dict.fromkeys(storage.document_numbers("a.md"))))
    paragraphs = tuple(paragraph for passage in passages for paragraph in quotable(passage))
    begins = [paragraph.units[0].kind for paragraph in paragraphs]
    rest = begins.index(UnitKind.TABLE) + 1
    assert begins[rest] is UnitKind.TABLE
    for best in (rest, len(begins) - 1):
        values = [float(place == best) + 0.1 * (place == len(begins) - 1) for place in range(len(paragraphs))]
        section = Section("怎么取？", PageSection.under(("指标",)), paragraphs, answering=of_units(paragraphs, values))
        opened = answer_first(section, "").paragraphs
        assert opened[0].texts == ["最后看一眼总数。"]


def test_a_table_over_two_passages_is_written_as_one(tmp_path: Path, hash_embedder: HashEmbedder) -> None:
    rows = [f"| 第{number}行 | 这一行说明第{number}个指标取多少，以及什么时候取 |" for number in range(60)]
    table = "\n".join(["| 行 | 说明 |", "| --- | --- |", *rows])
    ingest(
        tmp_path,
        hash_embedder,
        {"a.md": f"# 怎么取？\n\n## 指标\n\n指标取多少要看用在哪里，下表逐行说。\n\n{table}\n\n看总数。\n"},
    )
    storage = open_index(tmp_path / "index").storage
    passages = storage.passages(list(dict.fromkeys(storage.document_numbers("a.md"))))
    paragraphs = [paragraph for passage in passages for paragraph in quotable(passage)]
    tables = sum(unit.kind is UnitKind.TABLE for paragraph in paragraphs for unit in paragraph.units)
    assert tables > 1
    written = write_quotes(paragraphs, {"a.md": storage.source("a.md") or ""})
    marks = " ".join(f"[{marker}]" for marker in range(2, tables + 2))
    assert (
        "".join(written.chunks).strip()
        == f"指标取多少要看用在哪里，下表逐行说。 [1]\n\n{table}\n\n{marks}\n\n看总数。 [{tables + 2}]"
    )
    assert all(claim.text.startswith("| 第") for claim in written.claims[2:-1])


def test_code_over_several_passages_is_written_as_one(tmp_path: Path, hash_embedder: HashEmbedder) -> None:
    lines = [f"total = total + weight_{number} * value_{number}  # term {number}" for number in range(60)]
    code = "\n".join(["```python", *lines[:30], "", *lines[30:], "```"])
    source = f"# 怎么算？\n\n## 代码\n\n逐项相加，代码如下：\n\n{code}\n\n相加六十次。\n"
    ingest(tmp_path, hash_embedder, {"a.md": source})
    storage = open_index(tmp_path / "index").storage
    passages = storage.passages(list(dict.fromkeys(storage.document_numbers("a.md"))))
    paragraphs = [paragraph for passage in passages for paragraph in quotable(passage)]
    written = write_quotes(paragraphs, {"a.md": storage.source("a.md") or ""})
    text = "".join(written.chunks)
    assert sum(unit.kind is UnitKind.CODE for paragraph in paragraphs for unit in paragraph.units) > 2
    assert text.count("```") == 2
    assert code in text
    assert "[2] [3]" in text


def opened_with(tmp_path: Path, embedder: HashEmbedder, text: str, best: int, others: float = 0.1) -> list[str]:
    """The paragraphs of an answer out of a section with this text, whose paragraph at `best` is most like the
    question, and its first one nothing like it, or so much as `others`."""
    ingest(tmp_path, embedder, {"a.md": f"# 怎么做？\n\n## 步骤\n\n{text}\n"})
    storage = open_index(tmp_path / "index").storage
    [passage] = storage.passages(list(dict.fromkeys(storage.document_numbers("a.md"))))
    paragraphs = quotable(passage)
    values = [0.9 if place == best else others for place in range(len(paragraphs))]
    section = Section("怎么做？", PageSection.under(("步骤",)), paragraphs, answering=of_units(paragraphs, values))
    chunks = write_quotes(answer_first(section, "").paragraphs, {"a.md": storage.source("a.md") or ""}).chunks
    return "".join(chunks).strip().split("\n\n")


def test_a_numbered_list_stays_together(tmp_path: Path, hash_embedder: HashEmbedder) -> None:
    text = "先看数据。\n\n再定目标。\n\n1. 清洗语料。\n\n2. 训练分词器。\n\n3. 开始训练。"
    assert opened_with(tmp_path, hash_embedder, text, 2) == [
        "1. 清洗语料。 [1]\n2. 训练分词器。 [2]\n3. 开始训练。 [3]",
        "先看数据。 [4]",
        "再定目标。 [5]",
    ]


def test_what_points_back_is_not_put_in_front_alone(tmp_path: Path, hash_embedder: HashEmbedder) -> None:
    text = "先看数据。\n\n方差等于维度。\n\n标准差因此是维度的平方根。\n\n它随维度变大。"
    opened = ["方差等于维度。 [1]", "标准差因此是维度的平方根。 [2]", "它随维度变大。 [3]", "先看数据。 [4]"]
    assert opened_with(tmp_path, hash_embedder, text, 3) == opened
    assert opened_with(tmp_path, hash_embedder, text, 1)[0] == "方差等于维度。 [1]"
    text = "先看数据。\n\n用量如下。\n\n$$\na=b\n$$\n\n公式里的数都是估的。\n\n再看结果。"
    assert opened_with(tmp_path, hash_embedder, text, 2)[0] == "用量如下。 [1]"


def test_the_first_sentence_of_a_section_leads_in_what_answers(tmp_path: Path, hash_embedder: HashEmbedder) -> None:
    text = "切分由语义决定。块太大会混进别的话题。\n\n重叠取块长的一成到两成。再多只是重复。\n\n表格不切。"
    ingest(tmp_path, hash_embedder, {"a.md": f"# 怎么切？\n\n## 切分\n\n{text}\n"})
    storage = open_index(tmp_path / "index").storage
    [passage] = storage.passages(list(dict.fromkeys(storage.document_numbers("a.md"))))
    section = Section("怎么切？", PageSection.under(("切分",)), quotable(passage))
    sources = {"a.md": storage.source("a.md") or ""}

    def opened(*values: float) -> list[str]:
        asked = answer_first(replace(section, answering=of_units(section.paragraphs, values)), "")
        return "".join(write_quotes(asked.paragraphs, sources).chunks).strip().split("\n\n")

    assert opened(0.90, 0.92, 0.5) == [
        "切分由语义决定。 [1] 重叠取块长的一成到两成。 [2] 再多只是重复。 [3]",
        "块太大会混进别的话题。 [4]",
        "表格不切。 [5]",
    ]
    # What has nothing to do with the question leads in nothing.
    assert opened(0.80, 0.92, 0.5)[0] == "重叠取块长的一成到两成。 [1] 再多只是重复。 [2]"
    assert opened(0.95, 0.92, 0.5)[0] == "切分由语义决定。 [1] 块太大会混进别的话题。 [2]"


def test_a_line_that_ends_no_sentence_leads_in_nothing(tmp_path: Path, hash_embedder: HashEmbedder) -> None:
    assert opened_with(tmp_path, hash_embedder, "2.8 投递\n\n2.15 二面", 1, others=0.88)[0] == "2.15 二面 [1]"
    said = opened_with(tmp_path, hash_embedder, "已经投递。\n\n2.15 二面", 1, others=0.88)
    assert said[0] == "已经投递。 [1] 2.15 二面 [2]"


def test_a_quotation_is_one_paragraph_and_a_table_none_with_the_list_above(
    tmp_path: Path, hash_embedder: HashEmbedder
) -> None:
    text = "> 外推\n> 用插值。\n\n> 精度\n> 用单精度。\n\n- 逐层量化\n\n| 缩写 | 全称 |\n|---|---|\n| RM | 奖励 |"
    ingest(tmp_path, hash_embedder, {"a.md": f"# 记什么？\n\n{text}\n"})
    storage = open_index(tmp_path / "index").storage
    [passage] = storage.passages(list(dict.fromkeys(storage.document_numbers("a.md"))))
    assert [paragraph.texts for paragraph in quotable(passage)] == [
        ["外推", "用插值。"], ["精度", "用单精度。"], ["逐层量化"], ["| 缩写 | 全称 |\n|---|---|\n| RM | 奖励 |"],
    ]  # fmt: skip


def test_a_text_without_headings_is_answered_by_the_sentence_on(tmp_path: Path, hash_embedder: HashEmbedder) -> None:
    """No heading says that its paragraphs belong together."""
    first = "周会记录。参会的有李然和陈默。延迟从 380 毫秒涨到 460 毫秒。原因是批大小设成了 8。"
    text = f"{first}\n\n合同月底到期。\n\n下次周会改到周四。"
    ingest(tmp_path, hash_embedder, {"a.txt": text})
    storage = open_index(tmp_path / "index").storage
    passages = storage.passages(list(dict.fromkeys(storage.document_numbers("a.txt"))))
    paragraphs = [paragraph for passage in passages for paragraph in quotable(passage)]
    parts = [part for section in in_sections(passages[0].title, paragraphs) for part in parts_of(section)]
    assert [part.texts[0] for part in parts] == ["周会记录。", "合同月底到期。", "下次周会改到周四。"]

    def opened(*values: float) -> list[str]:
        return answer_first(replace(parts[0], answering=(values,)), "").texts

    assert opened(0.80, 0.82, 0.95, 0.85) == ["延迟从 380 毫秒涨到 460 毫秒。", "原因是批大小设成了 8。"]
    assert opened(0.80, 0.92, 0.95, 0.85)[0] == "参会的有李然和陈默。"  # about as good
    assert answer_first(parts[0], "").paragraphs == parts[0].paragraphs
    # What was quoted from its third sentence on is known as said.
    assert parts[0].was_heard("延迟从 380 毫秒涨到 460 毫秒。")
    assert not parts[1].was_heard("延迟从 380 毫秒涨到 460 毫秒。")
    # Only what is about as good follows.
    for score, quoted in ((-0.4, 2), (-1.0, 1)):
        assert len(choose_paragraphs([SectionRanking("合同", (parts[1], parts[2]), (0.0, score))])) == quoted


def test_a_heading_holds_together_what_stands_under_it(tmp_path: Path, hash_embedder: HashEmbedder) -> None:
    """The title of a page does where it is a question, or one heading of several."""
    text = "甲的第一段。\n\n甲的第二段。"
    documents = {
        "alone.md": f"# 周会记录\n\n{text}\n",
        "asked.md": f"# 甲是什么？\n\n{text}\n",
        "chat.txt": "有几件事。\n\n甲是什么？\n\n甲的第一段。\n\n甲的第二段。\n",
        "several.txt": "1、甲是什么呢？\n\n甲的第一段。\n\n甲的第二段。\n\n2、乙是什么呢？\n\n乙的话。\n",
    }
    ingest(tmp_path, hash_embedder, documents)
    storage = open_index(tmp_path / "index").storage
    counts = {}
    for name in documents:
        passages = storage.passages(list(dict.fromkeys(storage.document_numbers(name))))
        sections = in_sections(passages[0].title, [one for passage in passages for one in quotable(passage)])
        counts[name] = [len(parts_of(section)) for section in sections]
    assert counts == {"alone.md": [2], "chat.txt": [3], "asked.md": [1], "several.txt": [1, 1]}
