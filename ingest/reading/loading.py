"""File -> Document: its text by the reader of its format, its front matter. Nothing in a file is ever run."""

import hashlib
import re
import stat
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from ingest.formats.encoding import decoded
from ingest.formats.extract import Extract, UnreadableError
from ingest.reading.parser_process import ParserProcess
from ingest.reading.registry import SUFFIXES, TEXT_SUFFIXES
from rag.errors import DocumentError, Unreadable
from rag.text.front_matter import FrontMatter, read_front_matter

MARKDOWN_SUFFIXES = frozenset({".md", ".markdown", ".mdx"})
TABLE_OF_HTML = re.compile(r"<table\b[^<>]*>", re.IGNORECASE)
# The longest novel paragraphs stay below a hundredth of this.
MAX_LINE_CHARACTERS = 500_000
# A picture embedded in the text; its code is not text.
PICTURE = re.compile(r"(data:image/[\w.+-]{1,40};base64,)[A-Za-z0-9+/=]{40,}")


@dataclass(frozen=True, slots=True)
class Document:
    """A file as read.

    `source` is a text file's decoded text without byte-order mark, with its own line endings; for other formats the
    extracted text. `title` is that of its front matter, or the format's own. `pages` holds the offset at which each
    page (or slide) begins; it is empty for formats without pages. `warnings` say what could not be read, `removed`
    holds the lines that the reader omitted.
    """

    name: str
    source: str
    sha256: str
    size: int
    is_markdown: bool
    title: str = ""
    front_matter: FrontMatter = field(default_factory=FrontMatter)
    pages: tuple[int, ...] = ()
    warnings: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()

    @property
    def body_start(self) -> int:
        """Where the text after the front matter begins."""
        return self.front_matter.body_start


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
    front_matter = read_front_matter(source) if suffix in MARKDOWN_SUFFIXES else FrontMatter()
    return Document(
        name=name,
        source=source,
        sha256=hashlib.sha256(data).hexdigest(),
        size=len(data),
        is_markdown=extract.is_markdown,
        title=front_matter.title or extract.title.strip(),
        front_matter=front_matter,
        pages=extract.pages,
        warnings=(*extract.warnings, *front_matter.warnings, *told),
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
