"""File -> Document: its text by the reader of its format, its front matter. Nothing in a file is ever run."""

import hashlib
import re
import stat
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

import yaml

from ingest.formats.encoding import decoded
from ingest.formats.extract import Extract, UnreadableError
from ingest.reading.parser_process import ParserProcess
from ingest.reading.registry import SUFFIXES, TEXT_SUFFIXES
from rag.errors import DocumentError, Unreadable

MARKDOWN_SUFFIXES = frozenset({".md", ".markdown", ".mdx"})
TABLE_OF_HTML = re.compile(r"<table\b[^<>]*>", re.IGNORECASE)
# The longest novel paragraphs stay below a hundredth of this.
MAX_LINE_CHARACTERS = 500_000
# A picture embedded in the text; its code is not text.
PICTURE = re.compile(r"(data:image/[\w.+-]{1,40};base64,)[A-Za-z0-9+/=]{40,}")
# Same as SafeLoader, ten times as fast if PyYAML was built with libyaml.
YAML_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
# Rules around front matter: of YAML, of TOML.
FRONT_MATTER_RULES = (re.compile(r"^-{3,}[ \t\r]*$", re.MULTILINE), re.compile(r"^\+{3}[ \t\r]*$", re.MULTILINE))
# A line that only front matter has.
FIELD = re.compile(r"([A-Za-z_][\w-]*)\s*[:=](?:[ \t]|$)")


@dataclass(frozen=True, slots=True)
class Document:
    """A file as read.

    `source` is a text file's decoded text without byte-order mark, with its own line endings; for other formats the
    extracted text. `body_start` is where the text after the front matter begins. `pages` holds the offset at which
    each page (or slide) begins; it is empty for formats without pages. `questions` are those that sections answer, by
    heading. `warnings` say what could not be read, `removed` holds the lines that the reader omitted.
    """

    name: str
    source: str
    sha256: str
    size: int
    is_markdown: bool
    body_start: int = 0
    title: str = ""
    tags: tuple[str, ...] = ()
    asked_as: tuple[str, ...] = ()
    questions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    pages: tuple[int, ...] = ()
    warnings: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


def read_document(name: str, path: Path, *, max_bytes: int, parser: ParserProcess | None = None) -> Document:
    """Read one file; formats other than plain text with `parser`, or its own parser. Raises DocumentError naming the
    problem."""
    return document_of(name, path.suffix, read_file(name, path, max_bytes=max_bytes), parser=parser)


def read_file(name: str, path: Path, *, max_bytes: int) -> bytes:
    """The bytes of an ordinary file that is not too large. Raises DocumentError."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise DocumentError(f"{name}: is not an ordinary file", hint="remove it", reason=Unreadable.FILE)
        size = status.st_size
        if size > max_bytes:
            raise DocumentError(
                f"{name}: {size:,} bytes is more than the limit of {max_bytes:,}",
                hint="split the file, or raise `max_file_megabytes`",
                reason=Unreadable.LARGE,
            )
        return path.read_bytes()
    except OSError as error:
        raise DocumentError(
            f"{name}: cannot be read: {error.strerror or error}",
            hint="check that it exists and may be read",
            reason=Unreadable.FILE,
        ) from error


def document_of(name: str, suffix: str, data: bytes, *, parser: ParserProcess | None = None) -> Document:
    """The document in a file with this ending and these bytes. Raises DocumentError."""
    suffix = suffix.lower()
    try:
        extract = _extract(suffix, data, parser)
    except UnreadableError as error:
        raise DocumentError(f"{name}: {error.message}", hint=error.hint, reason=error.reason) from error
    source, pictures = PICTURE.subn(r"\1", extract.text)
    if not source.strip():
        raise DocumentError(
            f"{name}: {'contains no text' if data.strip() and suffix not in TEXT_SUFFIXES else 'the file is empty'}",
            hint="add text to it or remove it",
            reason=Unreadable.EMPTY,
        )
    longest = max(map(len, source.splitlines()))
    if longest > MAX_LINE_CHARACTERS:
        raise DocumentError(
            f"{name}: a single line of {longest:,} characters is data, not prose (limit {MAX_LINE_CHARACTERS:,})",
            hint="break the text into lines",
            reason=Unreadable.LARGE,
        )
    told = (f"{pictures} picture{'s'[: pictures > 1]} embedded in the text left out",) if pictures else ()
    body_start, metadata, warnings = _split_front_matter(source) if suffix in MARKDOWN_SUFFIXES else (0, {}, ())
    return Document(
        name=name,
        source=source,
        sha256=hashlib.sha256(data).hexdigest(),
        size=len(data),
        is_markdown=extract.is_markdown,
        body_start=body_start,
        title=next(iter(_strings(metadata.get("title"))), extract.title).strip(),
        tags=_strings(metadata.get("tags")),
        asked_as=_strings(metadata.get("asked_as")),
        questions=_questions(metadata.get("questions")),
        pages=extract.pages,
        warnings=(*extract.warnings, *warnings, *told),
        removed=extract.removed,
    )


def _extract(suffix: str, data: bytes, parser: ParserProcess | None) -> Extract:
    if suffix not in SUFFIXES or suffix in TEXT_SUFFIXES:
        text, warnings = decoded(data)
        if suffix not in MARKDOWN_SUFFIXES or not TABLE_OF_HTML.search(text):
            return Extract(text, warnings=warnings, is_markdown=suffix in MARKDOWN_SUFFIXES)
    if not data.strip():
        return Extract("")
    if parser is not None:
        return parser.extract(suffix, data)
    with ParserProcess() as own:
        return own.extract(suffix, data)


def is_written_markdown(name: str) -> bool:
    """Whether a document of this name is Markdown as an author wrote it, not made by a format reader."""
    return PurePosixPath(name).suffix.lower() in MARKDOWN_SUFFIXES


def _split_front_matter(source: str) -> tuple[int, dict[str, object], tuple[str, ...]]:
    """Where the text begins, the front matter before it, and any problem with that."""
    readers: tuple[Callable[[str], dict[str, object]], ...] = (_yaml, tomllib.loads)
    for rule, read in zip(FRONT_MATTER_RULES, readers, strict=True):
        opening = rule.match(source)
        closing = rule.search(source, opening.end()) if opening else None
        if opening is None or closing is None:
            continue
        written = source[opening.end() : closing.start()]
        try:
            metadata = read(written)
        except (yaml.YAMLError, ValueError, RecursionError) as error:  # dates raise ValueError
            return _of_plain_fields(written, closing.end(), error)
        return (closing.end(), metadata, ()) if metadata and isinstance(metadata, dict) else (0, {}, ())
    return 0, {}, ()


def _yaml(written: str) -> dict[str, object]:
    metadata: dict[str, object] = yaml.load(written, YAML_LOADER)
    return metadata


def _of_plain_fields(written: str, end: int, error: Exception) -> tuple[int, dict[str, object], tuple[str, ...]]:
    """Front matter that its parser refuses: `name: value` on every line counts as fields; other text between two rules
    is text."""
    lines = [line for line in written.splitlines() if line.strip()]
    if not any(map(FIELD.match, lines)):
        return 0, {}, ()
    mark = error.context_mark or error.problem_mark if isinstance(error, yaml.MarkedYAMLError) else None
    line = f" (line {mark.line + 1})" if mark else ""
    fields = [FIELD.match(line) for line in lines]
    if not all(fields):
        return 0, {}, (f"its front matter is not valid{line} and is read as text: put quotes around the value",)
    metadata: dict[str, object] = {
        field[1]: text[field.end() :].strip() for field, text in zip(fields, lines, strict=True) if field
    }
    return end, metadata, (f"its front matter is not valid{line}; each line is read as a name and its value",)


def _strings(value: object) -> tuple[str, ...]:
    """The plain values; ignores nested ones, which YAML aliases can blow up without bound."""
    values = value if isinstance(value, list) else [value]
    return tuple(str(item) for item in values if isinstance(item, str | int | float))


def _questions(value: object) -> dict[str, tuple[str, ...]]:
    by_heading = value.items() if isinstance(value, dict) else ()
    return {heading: _strings(asked) for heading, asked in by_heading if isinstance(heading, str)}
