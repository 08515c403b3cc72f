"""Files to documents: encodings, front matter, and what is refused."""

import os
import random
import time
from pathlib import Path

import pytest

from ingest.reading.listing import list_files
from ingest.reading.loading import MAX_LINE_CHARACTERS, Document, read_document
from rag.errors import DocumentError, IngestError
from tests.paths import FORMATS as DATA

CHINESE = "梯度累积把几个小批次的梯度加在一起，再更新一次参数。\n显存不够时，这样可以得到大批次的效果。\n"
MEGABYTE = 1 << 20


def read(folder: Path, data: bytes, name: str = "page.txt") -> Document:
    path = folder / name
    path.write_bytes(data)
    return read_document(name, path, max_bytes=64 * MEGABYTE)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "gb18030", "utf-16", "big5"])
def test_encodings(tmp_path: Path, encoding: str) -> None:
    text = CHINESE * 5 if encoding != "big5" else "機器學習模型的訓練需要大量的資料，並且需要調整參數。\n" * 20
    document = read(tmp_path, text.encode(encoding))
    assert document.source == text


def test_utf_16_big_endian_by_its_mark(tmp_path: Path) -> None:
    assert read(tmp_path, b"\xfe\xff" + CHINESE.encode("utf-16-be")).source == CHINESE


def test_short_gb18030_with_latin_terms(tmp_path: Path) -> None:
    text = "ZeRO-3 把参数也切开。"
    assert read(tmp_path, text.encode("gb18030")).source == text


def test_line_endings_stand_as_they_are(tmp_path: Path) -> None:
    assert read(tmp_path, b"one\r\ntwo\rthree\n").source == "one\r\ntwo\rthree\n"


def test_front_matter(tmp_path: Path) -> None:
    text = "---\r\ntitle: 学习率预热\r\ntags: [训练, warmup]\r\nasked_as:\r\n  - 为什么要 warmup？\r\n---\r\n# 正文\r\n"
    document = read(tmp_path, text.encode(), "page.md")
    assert document.title == "学习率预热"
    assert document.front_matter.tags == ("训练", "warmup")
    assert document.front_matter.asked_as == ("为什么要 warmup？",)
    assert document.source == text
    assert document.source[document.body_start :].strip() == "# 正文"


@pytest.mark.parametrize(
    "text",
    [
        "---\ntitle: [a\n  and more: on\n---\n正文在此\n",  # not YAML, and no plain fields either
        "+++\n正文在此\n+++\n再一段\n",  # not TOML
        "---\n- a\n- b\n---\n正文在此\n",  # a list
        "---\n正文在此，没有结束\n",
        "---\n" + "[" * 5_000 + "\n---\n正文在此\n",
        "---\n\n正文在此\n\n---\n\n再一段\n",  # rulers
    ],
)
def test_what_is_no_front_matter_is_text(tmp_path: Path, text: str) -> None:
    document = read(tmp_path, text.encode(), "page.md")
    assert document.source == text
    assert document.body_start == 0
    assert document.title == ""


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("---\ntitle: x\n- asked_as: [Is it so?]\n---\n正文在此\n", "not valid (line 2) and is read as text"),
        ("---\ntitle: 分词: 从字到词\ncreated: 2026-03-01\n---\n正文在此\n", "(line 2); each line is read"),
        ("---\ntitle: x\nupdated: 2024-13-45\n---\n正文在此\n", "not valid; each line is read"),
    ],
)
def test_front_matter_that_cannot_be_read_is_told_of(tmp_path: Path, text: str, told: str) -> None:
    (warning,) = read(tmp_path, text.encode(), "page.md").warnings
    assert "front matter" in warning
    assert told in warning


def test_plain_fields_are_front_matter_whatever_yaml_says(tmp_path: Path) -> None:
    document = read(tmp_path, '---\ntitle: 分词: 从字到词\nby: "x: y" z\n---\n正文在此\n'.encode(), "page.md")
    assert document.title == "分词: 从字到词"
    assert document.source[document.body_start :].strip() == "正文在此"


def test_questions_of_sections(tmp_path: Path) -> None:
    text = "---\ntitle: x\nquestions:\n  显存多大？:\n    - 要几张卡\n    - 24\n  坏的: {a: b}\n---\n正文在此\n"
    document = read(tmp_path, text.encode(), "page.md")
    assert document.front_matter.questions == {"显存多大？": ("要几张卡", "24"), "坏的": ()}
    assert read(tmp_path, b"---\ntitle: x\nquestions: [a]\n---\ntext\n", "page.md").front_matter.questions == {}


def test_front_matter_of_toml(tmp_path: Path) -> None:
    document = read(tmp_path, '+++\ntitle = "归一化"\ntags = ["norm"]\n+++\n\n正文在此\n'.encode(), "page.md")
    assert (document.title, document.front_matter.tags, document.warnings) == ("归一化", ("norm",), ())
    assert document.source[document.body_start :].strip() == "正文在此"


@pytest.mark.parametrize("text", ["---\n他说: “[好”: 不\n---\n再一段\n", "---\n正文\n---\n再一段\n", "# 题\n\n---\n"])
def test_text_between_rules_is_no_front_matter(tmp_path: Path, text: str) -> None:
    assert read(tmp_path, text.encode(), "page.md").warnings == ()


def test_front_matter_that_blows_up_is_left_alone(tmp_path: Path) -> None:
    """Ten aliases of ten aliases …: harmless until somebody turns them into text."""
    lines = ['a0: &a0 ["x", "x"]'] + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    document = read(tmp_path, "\n".join(["---", *lines, "title: *a9", "tags: *a9", "---", "正文"]).encode(), "page.md")
    assert document.title == ""
    assert document.front_matter.tags == ()


def test_front_matter_is_for_markdown_only(tmp_path: Path) -> None:
    assert read(tmp_path, b"---\ntitle: x\n---\ntext\n").body_start == 0


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "empty"),
        (b" \n\t\r\n", "empty"),
        (b"\xef\xbb\xbf", "empty"),
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00", "binary"),
        (b"text with a \x00 in it", "binary"),
        (bytes(range(1, 9)) * 50, "binary"),
        (b"%PDF-1.7\n" + bytes(range(256)) * 40, "binary"),
    ],
)
def test_refused_with_a_reason(tmp_path: Path, data: bytes, message: str) -> None:
    with pytest.raises(DocumentError, match=message) as caught:
        read(tmp_path, data)
    assert caught.value.message.startswith("page.txt: ")
    assert caught.value.hint


def test_undecodable(tmp_path: Path) -> None:
    chance = random.Random(1)
    noise = bytes(chance.randrange(32, 256) for _ in range(4_000))
    with pytest.raises(DocumentError, match="encoding cannot be determined"):
        read(tmp_path, noise)


def test_too_large(tmp_path: Path) -> None:
    path = tmp_path / "large.txt"
    path.write_bytes(b"a\n" * MEGABYTE)
    with pytest.raises(DocumentError, match=r"2,097,152 bytes is more than the limit of 1,048,576"):
        read_document("large.txt", path, max_bytes=MEGABYTE)


def test_a_single_line_of_50_megabytes_is_refused_quickly(tmp_path: Path) -> None:
    path = tmp_path / "line.txt"
    path.write_bytes(b"0123456789" * (5 * MEGABYTE))
    started = time.process_time()
    with pytest.raises(DocumentError, match="is data, not prose"):
        read_document("line.txt", path, max_bytes=64 * MEGABYTE)
    assert time.process_time() - started < 10


def test_the_longest_line_that_is_read(tmp_path: Path) -> None:
    assert read(tmp_path, b"a" * MAX_LINE_CHARACTERS)
    with pytest.raises(DocumentError, match="data"):
        read(tmp_path, b"a" * (MAX_LINE_CHARACTERS + 1))


def test_unreadable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "read_bytes", refuse)
    (tmp_path / "page.txt").write_text("text")
    with pytest.raises(DocumentError, match=r"page\.txt: cannot be read: Permission denied"):
        read_document("page.txt", tmp_path / "page.txt", max_bytes=MEGABYTE)


def test_vanished(tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match="No such file"):
        read_document("page.txt", tmp_path / "page.txt", max_bytes=MEGABYTE)


def listed(root: Path) -> list[str]:
    return [path.relative_to(root).as_posix() for path in list_files(root)]


def test_what_is_listed(tmp_path: Path) -> None:
    root = tmp_path / "root"
    for name in (
        "README.md", "b.md", "a.txt", "UPPER.MD", "c.markdown", "d.pdf", "e.py", ".hidden.md", ".git/x.md",
        "deep/er/README.md", "deep/z.txt", "folder.md/inside.md", "~$lock.docx", ".~lock.d.pdf#", "f.docx", "g.HTML",
        "h.doc",
    ):  # fmt: skip
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("text")
    assert listed(root) == [
        "UPPER.MD", "a.txt", "b.md", "c.markdown", "d.pdf", "deep/er/README.md", "deep/z.txt", "f.docx",
        "folder.md/inside.md", "g.HTML",
    ]  # fmt: skip


def test_links_out_of_the_root_are_left_out(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "secret.md").write_text("secret")
    root.mkdir()
    (root / "page.md").write_text("text")
    (root / "inside.md").symlink_to(root / "page.md")
    (root / "outside.md").symlink_to(tmp_path / "elsewhere" / "secret.md")
    (root / "folder").symlink_to(tmp_path / "elsewhere")
    (root / "loop").symlink_to(root)
    (root / "broken.md").symlink_to(tmp_path / "nothing.md")
    (root / "circle.md").symlink_to(root / "circle.md")
    os.mkfifo(root / "pipe.pdf")
    left_out: list[tuple[str, str]] = []
    paths = list_files(root, lambda path, reason: left_out.append((path.name, reason)))
    assert [path.name for path in paths] == ["inside.md", "page.md"]
    assert left_out == [
        ("folder", "a linked folder, which is not followed: add it as a root of its own"),
        ("loop", "a link to a folder that is read in its own place"),
        ("broken.md", "a link that leads nowhere"),
        ("circle.md", "a link that leads nowhere"),
        ("outside.md", "a link that leads out of its root"),
        ("pipe.pdf", "not an ordinary file"),
    ]


def test_what_is_no_file_is_never_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.pdf")
    for path in (tmp_path / "pipe.pdf", tmp_path, Path("/dev/zero")):
        with pytest.raises(DocumentError, match="is not an ordinary file"):
            read_document("page.pdf", path, max_bytes=MEGABYTE)


def test_other_formats_go_through_the_parser(tmp_path: Path) -> None:
    data = (DATA / "article.docx").read_bytes()
    document = read(tmp_path, data, "文章.DOCX")
    assert document.source.startswith("# 解码策略怎么选？\n")
    assert (document.is_markdown, document.size, document.pages) == (True, len(data), ())
    assert read(tmp_path, (DATA / "article.pdf").read_bytes(), "a.pdf").pages[0] == 0
    with pytest.raises(DocumentError, match=r"b\.pdf: is not a PDF file"):
        read(tmp_path, b"<html>", "b.pdf")
    with pytest.raises(DocumentError, match=r"c\.docx: the file is empty"):
        read(tmp_path, b"", "c.docx")
    with pytest.raises(DocumentError, match=r"d\.html: contains no text"):
        read(tmp_path, b"<html></html>", "d.html")


def test_a_root_may_be_a_link_or_a_file(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "page.md").write_text("text")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert listed(tmp_path / "link") == ["page.md"]
    assert list(list_files(tmp_path / "real" / "page.md")) == [tmp_path / "real" / "page.md"]


def test_a_folder_that_cannot_be_listed_is_no_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: str) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("os.scandir", refuse)
    with pytest.raises(IngestError, match="cannot be listed: Permission denied"):
        listed(tmp_path)
