"""File -> Document: decode the text, tell binary from text, read the front matter. Nothing in a file is ever run."""

import hashlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import frontmatter
import yaml
from charset_normalizer import from_bytes

from rag.errors import DocumentError, IngestError

SUFFIXES = frozenset({".md", ".markdown", ".txt"})
# Describes the folder, not its subject.
FOLDER_README = "readme.md"
MARKDOWN_SUFFIXES = frozenset({".md", ".markdown"})
# charset-normalizer looks at samples; this much of a file decides among GB18030, Big5, UTF-16 and their like.
DETECTION_BYTES = 200_000
# The longest novel paragraphs stay below a hundredth of this.
MAX_LINE_CHARACTERS = 500_000
# Text files hold tabs and line breaks, no other control characters: a stray one is scraping noise, many a binary file.
CONTROL_CHARACTERS = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f]")
MAX_CONTROL_SHARE = 0.01
FRONT_MATTER_END = re.compile(r"^-{3,}[ \t\r]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Document:
    """A file as read. `source` is the decoded text without byte-order mark, line endings as they stand;
    `body_start` is where the text after the front matter begins."""

    name: str
    source: str
    sha256: str
    size: int
    is_markdown: bool
    body_start: int = 0
    title: str = ""
    tags: tuple[str, ...] = ()
    asked_as: tuple[str, ...] = ()


def list_files(root: Path) -> Iterator[Path]:
    """Readable documents below `root` (or `root` itself), sorted; hidden files and folders and links out of the root
    are left out. A folder that cannot be listed raises IngestError: its documents have not vanished."""
    if root.is_file():
        yield root
        return
    inside = root.resolve()
    paths: list[Path] = []
    for folder, subfolders, files in os.walk(root, onerror=_refuse):
        subfolders[:] = [name for name in subfolders if not name.startswith(".")]
        paths += [Path(folder, name) for name in files if not name.startswith(".")]
    for path in sorted(paths):
        if path.suffix.lower() not in SUFFIXES or path.relative_to(root).as_posix().lower() == FOLDER_README:
            continue
        if path.is_file() and path.resolve().is_relative_to(inside):
            yield path


def _refuse(error: OSError) -> None:
    raise IngestError(
        f"the folder {error.filename} cannot be listed: {error.strerror}",
        hint="make it readable; its documents would count as removed",
    ) from error


def read_document(name: str, path: Path, *, max_bytes: int) -> Document:
    """Read one file. Raises DocumentError naming what is wrong with it."""
    try:
        size = path.stat().st_size
        if size > max_bytes:
            raise DocumentError(
                f"{name}: {size:,} bytes is more than the limit of {max_bytes:,}",
                hint="split the file, or raise `max_file_megabytes`",
            )
        data = path.read_bytes()
    except OSError as error:
        raise DocumentError(
            f"{name}: cannot be read: {error.strerror or error}", hint="check that it exists and may be read"
        ) from error
    source = decode(name, data)
    if not source.strip():
        raise DocumentError(f"{name}: the file is empty", hint="add text to it or remove it")
    longest = max(map(len, source.splitlines()))
    if longest > MAX_LINE_CHARACTERS:
        raise DocumentError(
            f"{name}: a single line of {longest:,} characters is data, not prose (limit {MAX_LINE_CHARACTERS:,})",
            hint="break the text into lines",
        )
    is_markdown = path.suffix.lower() in MARKDOWN_SUFFIXES
    body_start, metadata = _split_front_matter(source) if is_markdown else (0, {})
    return Document(
        name=name,
        source=source,
        sha256=hashlib.sha256(data).hexdigest(),
        size=len(data),
        is_markdown=is_markdown,
        body_start=body_start,
        title=next(iter(_strings(metadata.get("title"))), "").strip(),
        tags=_strings(metadata.get("tags")),
        asked_as=_strings(metadata.get("asked_as")),
    )


def decode(name: str, data: bytes) -> str:
    """UTF-8 (with or without byte-order mark) where it is valid; else UTF-16 by its mark; else GB18030 or what the
    bytes look like."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = _decode_by_detection(name, data)
    controls = len(CONTROL_CHARACTERS.findall(text))
    if "\x00" in text or controls > MAX_CONTROL_SHARE * len(text):
        raise DocumentError(
            f"{name}: holds binary data, not text", hint="only text files can be ingested; convert it to .md or .txt"
        )
    return text


def _decode_by_detection(name: str, data: bytes) -> str:
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        try:
            return data.decode("utf-16")
        except UnicodeDecodeError:
            pass
    if b"\x00" in data[:DETECTION_BYTES]:
        raise DocumentError(
            f"{name}: holds binary data, not text", hint="only text files can be ingested; convert it to .md or .txt"
        )
    # GB18030 decodes nearly any bytes; that the result reads as Chinese is what makes it believable.
    try:
        text = data.decode("gb18030")
        if _reads_as_chinese(text):
            return text
    except UnicodeDecodeError:
        pass
    best = from_bytes(data[:DETECTION_BYTES]).best()
    if best is not None:
        try:
            return data.decode(best.encoding)
        except (UnicodeDecodeError, LookupError):
            pass
    raise DocumentError(f"{name}: the text encoding cannot be determined", hint="save the file as UTF-8")


def _reads_as_chinese(text: str) -> bool:
    """Most characters beyond ASCII belong to what Chinese texts are written with: common ideographs, full-width
    forms, punctuation."""
    foreign = [character for character in text[:DETECTION_BYTES] if ord(character) > 0x7F]
    # GB2312's 6,763 everyday characters; mojibake from other encodings lands mostly outside them.
    common = sum(_is_gb2312(character) for character in foreign)
    return bool(foreign) and common >= 0.9 * len(foreign)


def _is_gb2312(character: str) -> bool:
    try:
        character.encode("gb2312")
    except UnicodeEncodeError:
        return False
    return True


def _split_front_matter(source: str) -> tuple[int, dict[str, object]]:
    if not source.startswith("---"):
        return 0, {}
    closing = FRONT_MATTER_END.search(source, 3)
    if closing is None:
        return 0, {}
    try:
        metadata, _ = frontmatter.parse(source)
    except (yaml.YAMLError, ValueError, RecursionError):  # YAML's dates raise ValueError
        return 0, {}
    return (closing.end(), dict(metadata)) if metadata else (0, {})


def _strings(value: object) -> tuple[str, ...]:
    """The plain values; nested ones, which YAML aliases can blow up without bound, say nothing to us."""
    values = value if isinstance(value, list) else [value]
    return tuple(str(item) for item in values if isinstance(item, str | int | float))
