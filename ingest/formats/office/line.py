"""The text of one paragraph, put together run by run."""

import re
from dataclasses import dataclass, field

from ingest.formats.markdown import lowered, raised
from rag.language.ends import FULL_STOPS, QUESTION_MARKS, ends_with
from rag.language.language import has_chinese

SENTENCE_END = re.compile(r"[。！？!?]+[”’」』）)]*|\.[”’)]*(?=\s|$)|\n|$")


@dataclass(slots=True)
class Line:
    """Runs of one kind are joined before they are written: raised and lowered ones, and those of one link."""

    _parts: list[str] = field(default_factory=list)
    _run: list[str] = field(default_factory=list)
    _kind: tuple[int, str] = (0, "")
    _length: int = 0
    _notes: list[tuple[int, str]] = field(default_factory=list)

    def add(self, text: str, place: int = 0, link: str = "") -> None:
        """Add text; `place` is 1 for raised and -1 for lowered text, `link` an address."""
        if not text:
            return
        if (place, link) != self._kind:
            self._flush()
            self._kind = place, link
        self._run.append(text)

    def note(self, text: str) -> None:
        """Add a remark on the sentence being written."""
        self._flush()
        self._notes.append((self._length, text))

    def length(self) -> int:
        """The length of the text so far."""
        self._flush()
        return self._length

    def link_from(self, start: int, address: str) -> None:
        """Turn the text written since `start` into a link."""
        self._flush()
        said: list[str] = []
        while self._parts and self._length > start:
            said.append(self._parts.pop())
            self._length -= len(said[-1])
        self._parts.append(_linked("".join(said[::-1]), address))
        self._length += len(self._parts[-1])

    def _flush(self) -> None:
        text, (place, link) = "".join(self._run), self._kind
        if place:
            text = raised(text) if place > 0 else lowered(text)
        text = _linked(text, link) if link else text
        self._parts.append(text)
        self._length += len(text)
        self._run, self._kind = [], (0, "")

    def bare(self) -> str:
        """The text without the notes."""
        self._flush()
        return "".join(self._parts)

    def notes(self) -> list[str]:
        """The notes, marked as such."""
        return [_marked(note, self.bare()) for _, note in self._notes]

    def text(self) -> str:
        """The text with each note after the end of its sentence."""
        text = self.bare()
        places: dict[int, list[str]] = {}
        end = -1
        for start, note in self._notes:
            if start and ends_with(text[max(0, start - 20) : start], FULL_STOPS + QUESTION_MARKS):
                end = start
            elif start > end:
                found = SENTENCE_END.search(text, start)
                end = start if found is None else found.start() if found[0] in ("", "\n") else found.end()
            places.setdefault(end, []).append(_in_brackets(note, text))
        pieces, position = [], 0
        for end, notes in sorted(places.items()):
            pieces += [text[position:end].rstrip() if end == len(text) else text[position:end], *notes]
            position = end
        return "".join([*pieces, text[position:]])


def _linked(text: str, address: str) -> str:
    said = text.strip()
    if not said or said in (address, address.removeprefix("mailto:")) or "](" in said or "\n" in said:
        return text
    return f"[{said}]({address})".join(text.split(said, 1))


def _marked(note: str, text: str) -> str:
    if has_chinese(note) or has_chinese(text):
        return note if note.startswith("注") else f"注：{note}"
    return f"Note: {note}"


def _in_brackets(note: str, text: str) -> str:
    marked = _marked(note, text)
    return f" ({marked})" if marked.startswith("Note:") else f"（{marked}）"


def remark(text: str, author: str) -> str:
    """A comment as a block of its own, marked as such."""
    author = " ".join(author.split())[:60]
    if has_chinese(text) or has_chinese(author):
        return f"批注（{author}）：{text}" if author else f"批注：{text}"
    return f"Comment ({author}): {text}" if author else f"Comment: {text}"
