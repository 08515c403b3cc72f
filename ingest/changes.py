"""The changes of a run: documents, and the sections of changed documents, down to the sentence."""

import difflib
from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from dataclasses import asdict, dataclass
from typing import Any

from rapidfuzz import fuzz, process

from rag.index.storage import DocumentEntry, StoredDocument

# Sections under different headings count as one reworded section from this similarity on (rapidfuzz, 0..100).
LIKE = 60.0
# Similarity is not computed for more pairs: a document rewritten that much is reported as new and removed sections.
MAX_PAIRS = 40_000
DIFF_LINES = 8
LINE_CHARACTERS = 100
SHOWN_NAMES = 20
ENDS = "。！？!?"

Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Reworded:
    """A section with a new wording. Lines of `diff` begin with "- " (before) or "+ " (now)."""

    section: str
    diff: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DocumentChange:
    """Sections of a changed document, each by its headings joined with " > "."""

    document: str
    new: tuple[str, ...]
    removed: tuple[str, ...]
    reworded: tuple[Reworded, ...]


@dataclass(frozen=True, slots=True)
class Changes:
    """Names of documents; `moved` are pairs of the old and the new name."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    moved: tuple[tuple[str, str], ...] = ()
    stale: tuple[str, ...] = ()
    changed: tuple[DocumentChange, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        return {
            "added": list(self.added),
            "removed": list(self.removed),
            "moved": [{"from": old, "to": new} for old, new in self.moved],
            "stale": list(self.stale),
            "changed": [asdict(change) for change in self.changed],
        }

    def as_kept(self) -> dict[str, Any]:
        return {
            "added": list(self.added),
            "removed": len(self.removed),
            "moved": [{"to": new} for _, new in self.moved],
            "stale": list(self.stale),
            "changed": [
                {
                    "document": change.document,
                    "new": list(change.new),
                    "removed": len(change.removed),
                    "reworded": [
                        {"section": r.section, "diff": [line for line in r.diff if line.startswith("+ ")]}
                        for r in change.reworded
                    ],
                }
                for change in self.changed
            ],
        }

    def as_lines(self) -> list[str]:
        lines = [
            *(f"added: {name}" for name in _first(self.added)),
            *(f"removed: {name}" for name in _first(self.removed)),
            *(f"moved: {name}" for name in _first([f"{old} -> {new}" for old, new in self.moved])),
            *(f"stale, its last good version stays: {name}" for name in _first(self.stale)),
        ]
        for change in self.changed[:SHOWN_NAMES]:
            lines.append(f"changed: {change.document}")
            lines += [f"  new section: {section}" for section in _first(change.new)]
            lines += [f"  removed section: {section}" for section in _first(change.removed)]
            for reworded in change.reworded[:SHOWN_NAMES]:
                lines += [f"  reworded section: {reworded.section}", *(f"    {line}" for line in reworded.diff)]
        if len(self.changed) > SHOWN_NAMES:
            lines.append(f"changed: … and {len(self.changed) - SHOWN_NAMES} more")
        return lines


def moved_and_removed(
    before: Mapping[tuple[int, str], DocumentEntry], now: Sequence[DocumentEntry], roots: Set[int]
) -> tuple[list[tuple[str, str]], list[DocumentEntry]]:
    """Old and new names of moved documents, and the removed ones. A document that vanished while one with the same
    content appeared has moved; documents under a root no longer among `roots` were removed."""
    here = {entry.key for entry in now}
    appeared: defaultdict[str, list[str]] = defaultdict(list)
    for entry in reversed(now):
        if entry.key not in before:
            appeared[entry.sha256].append(entry.name)
    moved, removed = [], []
    for key, entry in before.items():
        if key in here:
            continue
        if entry.root in roots and appeared[entry.sha256]:
            moved.append((entry.name, appeared[entry.sha256].pop()))
        else:
            removed.append(entry)
    return moved, removed


def compare(old: StoredDocument, new: StoredDocument) -> DocumentChange:
    """The sections of two versions of a document, paired by their headings, else by their wording."""
    before, now = _sections(old), _sections(new)
    gone = {path: text for path, text in before.items() if path not in now}
    pairs = [(path, before[path], text) for path, text in now.items() if path in before]
    appeared = [path for path in now if path not in before]
    if len(gone) * len(appeared) <= MAX_PAIRS:
        for path in list(appeared):
            twin = process.extractOne(now[path], gone, scorer=fuzz.ratio, score_cutoff=LIKE)
            if twin is not None:
                pairs.append((path, gone.pop(twin[2]), now[path]))
                appeared.remove(path)
    reworded = tuple(Reworded(_shown(path), _diff(was, text)) for path, was, text in pairs if was != text)
    return DocumentChange(new.name, tuple(map(_shown, appeared)), tuple(map(_shown, gone)), reworded)


def _sections(document: StoredDocument) -> Mapping[Path, str]:
    """The text under each heading, by the path of headings, in order; the title stands for text above all headings."""
    sections: defaultdict[Path, list[str]] = defaultdict(list)
    for passage in document.passages:
        for block in passage.blocks:
            path = document.outline.sections[block.section].path or (document.title,)
            sections[path].append(passage.content.text[block.start : block.end])
    return {path: "\n".join(texts) for path, texts in sections.items()}


def _diff(old: str, new: str) -> tuple[str, ...]:
    lines = [
        line if len(line) <= LINE_CHARACTERS else f"{line[:LINE_CHARACTERS]}…"
        for line in difflib.unified_diff(_sentences(old), _sentences(new), lineterm="", n=0)
        if not line.startswith(("---", "+++", "@@"))
    ]
    more = [f"… {len(lines) - DIFF_LINES} more lines"] if len(lines) > DIFF_LINES else []
    return (*(f"{line[0]} {line[1:]}" for line in lines[:DIFF_LINES]), *more)


def _sentences(text: str) -> list[str]:
    """Lines are too long to compare: in Chinese a line is a paragraph."""
    for end in ENDS:
        text = text.replace(end, f"{end}\n")
    return [line.strip() for line in text.splitlines() if line.strip()]


def _shown(path: Path) -> str:
    return " > ".join(path)


def _first(names: Sequence[str]) -> list[str]:
    return [*names[:SHOWN_NAMES], *([f"… and {len(names) - SHOWN_NAMES} more"] if len(names) > SHOWN_NAMES else [])]
