"""python -m tools.fit.written_for: learn which section of a page a question is written for, from the questions in the
front matter of corpus/, and say how often it is told right on pages that were left out.

Contrastive (van den Oord et al., InfoNCE, 2018): the cross entropy of a softmax over the cosines of a mapped question
with the mean of the other questions of each section of its page, by Adam from the identity.
"""

import argparse
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save_file

from ingest.reading.loading import read_document
from rag.answer.quoted.written_for import EMBEDDER, FILE, KEY_BYTES, KEYS, MAP, SECTIONS, key_of, read
from rag.cli import Parser, add_common_options, run, settings_from
from rag.embedding import Embedder, load_embedder
from rag.evaluation.progress import bar
from rag.language.terms import simplified, stems
from rag.paths import CORPUS
from rag.settings import Settings

if TYPE_CHECKING:
    import torch

# Fewer questions than this, the heading among them, tell too little of a section to learn from it.
FEWEST = 3
EPOCHS, RATE = 6, 3e-4
# What cosines are multiplied by before the softmax: e to this, learnt from here.
SHARPNESS = 3.0
# One page in so many is left out to say how well it tells.
LEFT_OUT = 4
WHOLE = 127


@dataclass(frozen=True, slots=True)
class Section:
    """A section with questions, its heading first; `vectors`, shape (questions, dimension), are the embedder's."""

    document: str
    key: bytes
    vectors: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Written:
    """A section's questions as they are written, its heading first."""

    document: str
    key: bytes
    questions: tuple[str, ...]


def written_in(folder: Path) -> list[Written]:
    found = []
    for file in sorted(folder.glob("*/*.md")):
        name = file.relative_to(folder).as_posix()
        written = read_document(name, file, max_bytes=Settings().max_file_megabytes << 20).front_matter.questions
        for heading, questions in written.items():
            key = key_of(heading, [*filter(None, map(stems, questions))])
            found.append(Written(name, key, (heading, *questions)))
    return found


def embedded(written: Sequence[Written], embedder: Embedder) -> list[Section]:
    found = []
    for of_section in bar(written, "questions", unit="section"):
        encoded = embedder.encode_queries([simplified(text) for text in of_section.questions])
        found.append(Section(of_section.document, of_section.key, np.stack([one.vector for one in encoded])))
    return found


def learnt(sections: Sequence[Section]) -> NDArray[np.float32]:
    """The map, shape (dimension, dimension)."""
    import torch

    torch.manual_seed(0)
    pages = [told for page in _pages(sections) if (told := _as_tensors(page)) is not None]
    mapping = torch.nn.Parameter(torch.eye(sections[0].vectors.shape[1]))
    sharpness = torch.nn.Parameter(torch.tensor(SHARPNESS))
    optimizer = torch.optim.Adam([mapping, sharpness], lr=RATE)
    for _ in range(EPOCHS):
        for place in torch.randperm(len(pages)).tolist():
            vectors, section_of = pages[place]
            cosines = _cosines(vectors @ mapping, section_of)
            loss = torch.nn.functional.cross_entropy(cosines * sharpness.exp(), section_of)
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
    found: NDArray[np.float32] = mapping.detach().numpy()
    return found


def told_right(sections: Sequence[Section], mapping: NDArray[np.float32]) -> float:
    """The share of questions that are most like the other questions of their own section, of those of their page."""
    import torch

    right = [
        (_cosines(vectors @ torch.from_numpy(mapping), section_of).argmax(1) == section_of).numpy()
        for page in _pages(sections)
        for vectors, section_of in filter(None, [_as_tensors(page)])
    ]
    return float(np.concatenate(right).mean())


def _pages(sections: Sequence[Section]) -> list[list[Section]]:
    by_page: defaultdict[str, list[Section]] = defaultdict(list)
    for section in sections:
        by_page[section.document].append(section)
    return list(by_page.values())


def _as_tensors(page: Sequence[Section]) -> "tuple[torch.Tensor, torch.Tensor] | None":
    """The vectors of a page's questions, and the section of each; None if it has no two sections with FEWEST of them
    to tell apart."""
    import torch

    told = [section.vectors for section in page if len(section.vectors) >= FEWEST]
    if len(told) < 2:
        return None
    section_of = np.repeat(np.arange(len(told)), [len(vectors) for vectors in told])
    return torch.from_numpy(np.concatenate(told)), torch.from_numpy(section_of)


def _cosines(mapped: "torch.Tensor", section_of: "torch.Tensor") -> "torch.Tensor":
    """Of each question with each section's mean, its own question left out."""
    import torch
    from torch.nn.functional import normalize

    asked = normalize(mapped, dim=1)
    sums = torch.zeros(int(section_of.max()) + 1, asked.shape[1]).index_add(0, section_of, asked)
    own = (asked * normalize(sums[section_of] - asked, dim=1)).sum(1)
    return (asked @ normalize(sums, dim=1).T).scatter(1, section_of[:, None], own[:, None])


def write(file: Path, sections: Sequence[Section], mapping: NDArray[np.float32], embedder: str) -> None:
    _save(file, {section.key: _code(section, mapping) for section in sections}, mapping, embedder)


def complete(file: Path, folder: Path, embedder: Embedder) -> int:
    """Adds the sections of the pages that the file lacks, by its map, and takes out those that are gone; how many were
    added."""
    known, written = read(file), written_in(folder)
    added = embedded([section for section in written if section.key not in known.places], embedder)
    codes = {section.key: _code(section, known.map) for section in added}
    codes |= {of.key: known.sections[known.places[of.key]] for of in written if of.key in known.places}
    _save(file, codes, known.map, embedder.identity)
    return len(added)


def _code(section: Section, mapping: NDArray[np.float32]) -> NDArray[np.int8]:
    """The mean of the mapped questions, in 8 bits."""
    mean = _units(section.vectors @ mapping).sum(0)
    return np.asarray(np.rint(mean / np.abs(mean).max() * WHOLE), np.int8)


def _save(file: Path, codes: Mapping[bytes, NDArray[np.int8]], mapping: NDArray[np.float32], embedder: str) -> None:
    keys = np.frombuffer(b"".join(codes), np.uint8).reshape(-1, KEY_BYTES)
    sections = np.stack([*codes.values()])
    arrays: dict[str, NDArray[Any]] = {MAP: mapping.astype(np.float16), SECTIONS: sections, KEYS: keys}
    save_file(arrays, file, {EMBEDDER: embedder})


def _units(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)


def build_parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="python -m tools.fit.written_for", description="Learn which section a question is written for."
    )
    add_common_options(parser)
    writes = parser.add_mutually_exclusive_group()
    writes.add_argument("--write", action="store_true", help=f"write {FILE.name}")
    writes.add_argument("--complete", action="store_true", help=f"learn nothing: add new sections to {FILE.name}")
    return parser


def main(arguments: list[str] | None = None) -> int:
    return run(_fit, build_parser(), arguments)


def _fit(options: argparse.Namespace) -> int:
    embedder = load_embedder(settings_from(options))
    if options.complete:
        sys.stdout.write(f"{complete(FILE, CORPUS, embedder)} sections added to {FILE.name}\n")
        return 0
    sections = embedded(written_in(CORPUS), embedder)
    pages = [page for page in _pages(sections) if len(page) > 1]
    plain = np.eye(embedder.dimension, dtype=np.float32)
    out = [section for page in pages[::LEFT_OUT] for section in page]
    held = {section.document for section in out}
    mapped = told_right(out, learnt([section for section in sections if section.document not in held]))
    sys.stdout.write(
        f"{len(sections)} sections; told right on pages left out: {told_right(out, plain):.3f} by the embedder's "
        f"vectors, {mapped:.3f} mapped\n"
    )
    if options.write:
        write(FILE, sections, learnt(sections), embedder.identity)
        sys.stdout.write(f"wrote {FILE.name}, {FILE.stat().st_size:,} bytes\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
