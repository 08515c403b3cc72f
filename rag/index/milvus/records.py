"""Passages, documents and token vectors as rows, and back.

A row's number is `generation << 32 | its place among the generation's rows`: no two rows ever share one.
"""

import base64
import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter

from rag.index.milvus.schema import MOST_BYTES
from rag.index.storage import StoredDocument, StoredPassage, as_json, blocks_of, pieces_of
from rag.index.tokens import PER_BYTE, PassageTokens
from rag.text.mapped import MappedText
from rag.text.page import PageSection
from rag.types import Passage, Place

NUMBER_BITS = 32
# A UTF-8 character has four bytes at most.
PART_CHARACTERS = MOST_BYTES // 4
# A base64 character has one byte.
PART_BYTES = MOST_BYTES // 4 * 3
SECTIONS = TypeAdapter(dict[int, PageSection])
COUNTS = np.dtype([("term", "<u4"), ("count", "<u2")])


def first_number(generation: int) -> int:
    return generation << NUMBER_BITS


def packed(value: object) -> str:
    """JSON, compressed if it would not fit into a field."""
    text = as_json(value)
    if len(text) <= PART_CHARACTERS or len(text.encode()) <= MOST_BYTES:
        return text
    return "z" + base64.b64encode(zlib.compress(text.encode())).decode()


def unpacked(text: str) -> Any:
    return json.loads(zlib.decompress(base64.b64decode(text[1:])) if text.startswith("z") else text)


def text_parts(text: str) -> list[str]:
    """The text in parts that each fit into a field; at least one."""
    return [text[start : start + PART_CHARACTERS] for start in range(0, max(len(text), 1), PART_CHARACTERS)]


def byte_parts(data: bytes) -> list[str]:
    starts = range(0, max(len(data), 1), PART_BYTES)
    return [base64.b64encode(data[start : start + PART_BYTES]).decode() for start in starts]


def joined_bytes(parts: Sequence[str]) -> bytes:
    return b"".join(map(base64.b64decode, parts))


def passage_record(document: StoredDocument, passage: StoredPassage, also_in: Sequence[Place]) -> dict[str, Any]:
    """All stored data of a passage except its vectors and terms."""
    return {
        "document": document.name,
        "title": document.title,
        "also_in": [[place.document, place.start, place.end] for place in also_in],
        **_content(document, passage),
    }


def repeat_record(document: StoredDocument, passage: StoredPassage, place: tuple[str, int]) -> dict[str, Any]:
    """A duplicate passage, which names the original by its document and its place there."""
    return {"same_as": list(place), **_content(document, passage)}


def _content(document: StoredDocument, passage: StoredPassage) -> dict[str, Any]:
    sections = {block.section: document.outline.sections[block.section] for block in passage.blocks}
    return {
        "section": list(passage.section),
        "text": passage.content.text,
        "pieces": passage.content.pieces,
        "blocks": passage.blocks,
        "sections": SECTIONS.dump_python(sections, mode="json", exclude_defaults=True),
        "header": passage.header,
        "key": passage.embedding_key,
        "fingerprint": passage.fingerprint.hex(),
    }


def passage_of(number: int, record: Mapping[str, Any]) -> Passage:
    blocks, sections = blocks_of(as_json(record["blocks"])), SECTIONS.validate_json(as_json(record["sections"]))
    return Passage(
        number, record["document"], record["title"], tuple(record["section"]), _mapped(record),
        tuple(Place(*place) for place in record["also_in"]), blocks, tuple(sections[block.section] for block in blocks),
    )  # fmt: skip


def stored_passage(record: Mapping[str, Any], number: int | None, same_as: int | None) -> StoredPassage:
    return StoredPassage(
        tuple(record["section"]), _mapped(record), record["header"], record["key"],
        bytes.fromhex(record["fingerprint"]), number, same_as, blocks_of(as_json(record["blocks"])),
    )  # fmt: skip


def _mapped(record: Mapping[str, Any]) -> MappedText:
    return MappedText(record["text"], pieces_of(as_json(record["pieces"])))


def coded_bytes(coded: PassageTokens) -> bytes:
    return b"".join(
        np.ascontiguousarray(array).tobytes() for array in (coded.token_ids, coded.scales, coded.lengths, coded.codes)
    )


def coded_of(data: bytes, dimension: int) -> PassageTokens:
    width = dimension // PER_BYTE
    count = len(data) // (8 + width)
    ids, scales, lengths, codes = np.split(np.frombuffer(data, np.uint8), np.cumsum([4 * count, 2 * count, 2 * count]))
    rows = codes.reshape(count, width)
    return PassageTokens(rows, scales.view(np.float16), lengths.view(np.float16), ids.view(np.int32))


@dataclass(frozen=True, slots=True)
class TermCounts:
    """How often each term occurs in a passage: `terms` (numbers, ascending) and `counts` run in parallel; `length` is
    its total number of terms."""

    terms: NDArray[np.uint32]
    counts: NDArray[np.uint16]
    length: int

    def packed(self) -> str:
        pairs = np.empty(len(self.terms), COUNTS)
        pairs["term"], pairs["count"] = self.terms, self.counts
        return base64.b64encode(pairs.tobytes()).decode()

    @classmethod
    def of(cls, text: str, length: int) -> "TermCounts":
        pairs = np.frombuffer(base64.b64decode(text), COUNTS)
        return cls(pairs["term"], pairs["count"], length)
