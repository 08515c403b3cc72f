"""Finds questions whose passages differ between a new generation and the previous one."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from rag.errors import RagError, UsageError

if TYPE_CHECKING:
    from rag.embedding import Embedder
    from rag.index import Index

ROW = '{"id": "q1", "text": "…", "evidence": [{"document": "a.md", "quote": "…"}]}'


@dataclass(frozen=True, slots=True)
class Question:
    """A question to watch. `evidence` are (document, quote) pairs that it should find."""

    id: str
    text: str
    evidence: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """The best hit for a question (None if there is none), and the rank of the first hit with each piece of evidence
    (None if no hit has it)."""

    document: str | None
    section: str | None
    evidence: tuple[int | None, ...] = ()


@dataclass(frozen=True, slots=True)
class Moved:
    id: str
    text: str
    before: Outcome
    after: Outcome


@dataclass(frozen=True, slots=True)
class Probe:
    """`compared` says whether there was an earlier generation searchable with this embedder."""

    questions: int
    compared: bool
    moved: tuple[Moved, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    def as_kept(self) -> dict[str, Any]:
        moved = [{"id": m.id, "text": m.text, "after": asdict(m.after)} for m in self.moved]
        return {"questions": self.questions, "compared": self.compared, "moved": moved}

    def as_lines(self) -> list[str]:
        if not self.compared:
            return [f"probe: {self.questions} questions, no earlier generation to compare with"]
        return [
            f"probe: {len(self.moved)} of {self.questions} questions moved",
            *(f"  {m.id}: {m.text}\n    before: {_shown(m.before)}\n    now:    {_shown(m.after)}" for m in self.moved),
        ]


def read_questions(rows: Iterable[dict[str, Any] | RagError]) -> list[Question]:
    """Questions from JSON rows. Raises UsageError: a bad row is told of before anything is ingested."""
    questions = []
    for number, row in enumerate(rows, start=1):
        if isinstance(row, RagError):
            raise row
        try:
            text, evidence = row["text"], [(e["document"], e["quote"]) for e in row.get("evidence") or ()]
        except (KeyError, TypeError, AttributeError):
            text, evidence = None, []
        if not isinstance(text, str) or not text.strip() or not all(isinstance(s, str) for e in evidence for s in e):
            raise UsageError(f"question {number} is not understood: {str(row)[:200]}", hint=f"a row looks like {ROW}")
        questions.append(Question(str(row.get("id", number)), text, tuple(evidence)))
    return questions


def probe(questions: Sequence[Question], embedder: "Embedder", old: "Index | None", new: "Index", *, k: int) -> Probe:
    """Ask both generations; `old` is None where there is none, or it was made with another embedder."""
    if old is None:
        return Probe(len(questions), compared=False)
    pairs = [(q, _ask(q, embedder, old, k), _ask(q, embedder, new, k)) for q in questions]
    moved = tuple(Moved(q.id, q.text, before, after) for q, before, after in pairs if before != after)
    return Probe(len(questions), compared=True, moved=moved)


def _ask(question: Question, embedder: "Embedder", index: "Index", k: int) -> Outcome:
    from rag.search.retrieval import search

    hits = search(index, embedder, question.text, k=k).hits
    if not hits:
        return Outcome(None, None, (None,) * len(question.evidence))
    ranks = []
    for document, quote in question.evidence:
        wanted = "".join(quote.split())
        ranks.append(
            next(
                (
                    hit.rank
                    for hit in hits
                    if document in {hit.passage.document, *(place.document for place in hit.passage.also_in)}
                    and wanted in "".join(hit.passage.text.split())
                ),
                None,
            )
        )
    best = hits[0].passage
    return Outcome(best.document, " > ".join(best.section), tuple(ranks))


def _shown(outcome: Outcome) -> str:
    if outcome.document is None:
        return "nothing found"
    place = " > ".join(filter(None, (outcome.document, outcome.section)))
    ranks = ", ".join("not found" if rank is None else f"rank {rank}" for rank in outcome.evidence)
    return place + (f" (evidence: {ranks})" if ranks else "")
