"""What the report says of a changed document."""

from ingest.changes import Changes, compare
from rag.index.storage import StoredDocument, StoredPassage
from rag.text.blocks import BlockKind
from rag.text.mapped import MappedText
from rag.text.markdown import parse
from rag.text.page import Outline, PageSection


def document(*passages: tuple[str, str]) -> StoredDocument:
    """Passages given as the last name of their path, and their text."""
    sections = [PageSection.under(("章",))]
    stored = []
    for name, text in passages:
        # A heading without a mark is known as one by the reader of the document.
        blocks = parse(text, {0: 2} if name and text.startswith(name) else None)
        path = ("章", name) if name else ("章",)
        if name and sections[-1].path != path:
            sections.append(PageSection.under(path))
        numbered = []
        for block in blocks:
            heading = text[block.body_start : block.body_end]
            if block.kind is BlockKind.HEADING and heading not in sections[-1].path:
                sections.append(PageSection.under(("章", heading)))
            numbered.append(block._replace(section=len(sections) - 1))
        stored.append(StoredPassage(path, MappedText.copied(text, 0), "", text, blocks=tuple(numbered)))
    outline = Outline(tuple(sections))
    return StoredDocument(0, "a.md", "a.md", "标题", "", 0, False, (), (), "", tuple(stored), outline=outline)


def test_sections_are_new_removed_or_reworded() -> None:
    old = document(
        ("甲", "## 甲\n第一句。第二句。第三句。"),
        ("乙", "## 乙\n束搜索保留分数最高的前缀。"),
        ("丙", "## 丙\n没有变。"),
        ("丁", "## 丁\n旋转位置编码按位置旋转查询和键。"),
    )
    new = document(
        ("甲", "## 甲\n第一句。第二句改了。第三句。"),
        ("丙", "## 丙\n没有变。"),
        ("戊", "## 戊\nLoRA 只训练低秩矩阵。"),
        ("己", "## 己\n旋转位置编码按位置旋转查询和键！"),
    )
    change = compare(old, new)
    assert (change.document, change.new, change.removed) == ("a.md", ("章 > 戊",), ("章 > 乙",))
    assert {r.section: r.diff for r in change.reworded} == {
        "章 > 甲": ("- 第二句。", "+ 第二句改了。"),
        "章 > 己": ("- ## 丁", "- 旋转位置编码按位置旋转查询和键。", "+ ## 己", "+ 旋转位置编码按位置旋转查询和键！"),
    }


def test_packing_is_no_change() -> None:
    """The same sections in other passages; a comment in code is no heading."""
    code = "```\n# 乙\nx = 1\n```"
    apart = document(
        ("", f"# 章\n开头。\n{code}"), ("甲", "## 甲\n第一句。"), ("甲", "第二句。"), ("乙", "## 乙\n第三句。")
    )
    packed = document(("", f"# 章\n开头。\n{code}\n## 甲\n第一句。"), ("", "第二句。"), ("乙", "## 乙\n第三句。"))
    for change in (compare(apart, packed), compare(packed, apart)):
        assert (change.new, change.removed, change.reworded) == ((), (), ())


def test_headings_without_marks_are_known_by_their_path() -> None:
    old = document(("1、为什么？", "1、为什么？\n因为省显存。"))
    new = document(("1、为什么？", "1、为什么？\n因为省显存。"), ("2、怎么做？", "2、怎么做？\n冻结权重。"))
    assert compare(old, new).new == ("章 > 2、怎么做？",)


def test_a_diff_is_short() -> None:
    old, new = document(("甲", "旧" * 500 + "。")), document(("甲", "".join(f"第{n}句。" for n in range(50))))
    (reworded,) = compare(old, new).reworded
    assert len(reworded.diff) == 9
    assert reworded.diff[-1] == "… 43 more lines"
    assert max(map(len, reworded.diff)) <= 103


def test_as_text_and_as_kept() -> None:
    change = compare(document(("甲", "旧的一句。同。")), document(("甲", "新的一句。同。"), ("乙", "完全是另外的东西")))
    changes = Changes(("new.md",), ("gone.md",), (("old.md", "here.md"),), ("stale.md",), (change,))
    text = "\n".join(changes.as_lines())
    for part in ("added: new.md", "removed: gone.md", "moved: old.md -> here.md", "stale.md", "- 旧的一句。", "+ 新的"):
        assert part in text
    kept = str(changes.as_kept())
    assert "新的一句" in kept
    for gone in ("gone.md", "old.md", "旧的一句"):
        assert gone in str(changes.as_dict())
        assert gone not in kept


def test_a_long_list_is_cut_off() -> None:
    lines = Changes(added=tuple(f"{n}.md" for n in range(1_000))).as_lines()
    assert len(lines) == 21
    assert lines[-1] == "added: … and 980 more"
