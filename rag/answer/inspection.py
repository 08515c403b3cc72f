"""A trace in figures and words: queries, candidates, cuts, judgement, and the prompt for a chat model."""

from dataclasses import asdict, dataclass
from math import exp
from typing import Any

from rag.answer.decide import Decision
from rag.answer.trace import Trace
from rag.search.retrieval import Evidence
from rag.text.tokens import count_tokens
from rag.types import AnswerKind, Passage, RankAndScore

# Candidates listed: the two searches propose up to a hundred.
LISTED = 40
SNIPPET = 120
COLUMNS = " #  dense keyword cosine  share likeness  fused  fate            document"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A proposed passage. `fate` is `used`; for a kept one, `not_used` (other paragraphs of its page answer better),
    `other_page` (the answer takes nothing from its page) or `not_answered` (a refusal); else `cut_by_sides` (the
    searches together found better) or `cut_below_top_k`."""

    rank: int
    document: str
    section: tuple[str, ...]
    dense: RankAndScore | None
    keyword: RankAndScore | None
    cosine: float
    share: float
    likeness: float | None
    fused: float
    fate: str
    text: str


@dataclass(frozen=True, slots=True)
class InspectedJudgement:
    """`features` by name; `log_odds` that the material has no answer, refused above `threshold`, and their
    `probability`, fitted on questions of which a third had none; None if the embedder has no calibration.

    `nearest` means that only the nearest material is quoted, `unheard` that the material lacks everything the question
    names. `reading` is the reader's log odds of an answer, None if it was not asked; if a question is refused and the
    reader finds no answer either, `log_odds` stay as they were.
    """

    refused: bool
    nearest: bool
    reason: str
    missing: tuple[str, ...]
    names: tuple[str, ...]
    features: dict[str, float]
    unheard: bool
    reading: float | None
    log_odds: float | None
    threshold: float
    probability: float | None


@dataclass(frozen=True, slots=True)
class SideRanking:
    """How many passages were proposed for one side of a comparison, and the best of them."""

    query: str
    proposed: int
    candidates: tuple[Candidate, ...]


@dataclass(frozen=True, slots=True)
class InspectedParagraph:
    """A paragraph that is quoted, or given to the chat model."""

    document: str
    heading: str
    text: str


@dataclass(frozen=True, slots=True)
class Inspection:
    """`candidates` and `proposed` belong to the first of the `queries`, `sides` to the others, in order. `milliseconds`
    are the times of the stages."""

    question: str
    history: tuple[str, ...]
    courtesy: str
    standalone: str
    queries: tuple[str, ...]
    embedder: str
    generation: int
    llm: str
    top_k: int
    style: str
    candidates: tuple[Candidate, ...]
    proposed: int
    sides: tuple[SideRanking, ...]
    judgement: InspectedJudgement
    chosen: tuple[InspectedParagraph, ...]
    prompt: tuple[tuple[str, str], ...]
    prompt_tokens: int
    milliseconds: dict[str, float]

    def as_dict(self) -> dict[str, Any]:
        """For JSON; without keys or machine details."""
        return asdict(self)


def inspection_of(trace: Trace) -> Inspection:
    """The contents of a trace, with or without an answer."""
    resources, result, selection = trace.resources, trace.result, trace.selection
    stages = dict(trace.milliseconds)
    return Inspection(
        question=trace.message,
        history=tuple(turn.text for turn in trace.history),
        courtesy=str(trace.courtesy or ""),
        standalone=trace.question.standalone.text,
        queries=trace.question.queries,
        embedder=resources.index.manifest.embedder,
        generation=resources.index.manifest.generation,
        llm=str(resources.llm),
        top_k=resources.settings.top_k,
        style=str(resources.choices.style),
        candidates=_candidates(trace, result.evidence),
        proposed=_proposed(result.evidence),
        sides=tuple(SideRanking(side.query, _proposed(side), _candidates(trace, side)) for side in result.sides),
        judgement=_judgement(trace.decision, nearest=trace.verdict is AnswerKind.NEAREST),
        chosen=tuple(
            InspectedParagraph(p.passage.document, p.heading, " ".join(p.texts)) for p in selection.paragraphs
        ),
        prompt=selection.prompt,
        prompt_tokens=sum(count_tokens(text) for _, text in selection.prompt),
        milliseconds=stages | {"total": round(sum(stages.values(), 0.0), 2)},
    )


def _judgement(decision: Decision, *, nearest: bool) -> InspectedJudgement:
    refusal, odds = decision.refusal, decision.log_odds
    return InspectedJudgement(
        refused=refusal is not None,
        nearest=nearest,
        reason=str(refusal.reason) if refusal else "",
        missing=refusal.missing if refusal else (*decision.result.silent, *decision.unknown),
        names=decision.names,
        features=_features(decision),
        unheard=decision.unheard,
        reading=None if decision.reading is None else round(decision.reading, 4),
        log_odds=None if odds is None else round(odds, 4),
        threshold=decision.margin,
        probability=None if odds is None else round(1 / (1 + exp(-odds)), 4),
    )


def _features(decision: Decision) -> dict[str, float]:
    """The inputs of the log odds by name."""
    told = {} if decision.features is None else asdict(decision.features)
    if decision.unspoken is not None:
        told["unspoken"] = decision.unspoken
    return {name: round(value, 4) for name, value in told.items()}


def _proposed(evidence: Evidence) -> int:
    return 0 if evidence.candidates is None else len(evidence.candidates.numbers)


def _candidates(trace: Trace, evidence: Evidence) -> tuple[Candidate, ...]:
    """The best candidates of one search, and the fate of each."""
    proposed = evidence.candidates
    if proposed is None:
        return ()
    places = proposed.order[:LISTED].tolist()
    passages = trace.resources.index.storage.passages([int(proposed.numbers[place]) for place in places])
    dense, keyword = proposed.dense.ranks, proposed.keyword.ranks
    return tuple(
        Candidate(
            rank=rank,
            document=passage.document,
            section=passage.section,
            dense=dense.get(passage.number),
            keyword=keyword.get(passage.number),
            cosine=round(float(proposed.cosines[place]), 4),
            share=round(float(proposed.shares[place]), 4),
            likeness=None if proposed.likeness is None else round(float(proposed.likeness[place]), 4),
            fused=round(float(proposed.fused[place]), 4),
            fate=_fate(trace, passage, rank),
            text=" ".join(passage.text.split())[:SNIPPET],
        )
        for rank, (place, passage) in enumerate(zip(places, passages, strict=True), start=1)
    )


def _fate(trace: Trace, passage: Passage, rank: int) -> str:
    selected = [paragraph.passage for paragraph in trace.selection.paragraphs]
    if passage.number in {used.number for used in selected}:
        return "used"
    if passage.number in {hit.passage.number for hit in trace.decision.result.evidence.hits}:
        if trace.decision.refusal is not None:
            return "not_answered"
        return "not_used" if passage.document in {used.document for used in selected} else "other_page"
    return "cut_by_sides" if rank <= trace.resources.settings.top_k else "cut_below_top_k"


def as_text(inspection: Inspection) -> str:
    """For a terminal: the ranking as a table, the judgement, what is used, and the times."""
    judgement = inspection.judgement
    odds = (
        "" if judgement.log_odds is None else f" (log odds {judgement.log_odds}, refused above {judgement.threshold})"
    )
    lines = [
        *([f"courtesy: {inspection.courtesy}"] if inspection.courtesy else []),
        f"standalone: {inspection.standalone}",
        *(f"searched: {query}" for query in inspection.queries),
        COLUMNS,
        *map(_line, inspection.candidates),
        *(line for side in inspection.sides for line in (f"side: {side.query}", *map(_line, side.candidates))),
        f"{_outcome(judgement)}{odds}",
        *(f"  {name} = {value}" for name, value in judgement.features.items()),
        *(["  the material mentions nothing that the question names"] if judgement.unheard else []),
        *([] if judgement.reading is None else [f"  the reader's log odds of an answer = {judgement.reading}"]),
        *(f"uses: {part.document} › {part.heading}: {part.text[:SNIPPET]}" for part in inspection.chosen),
        *(f"--- {role} ---\n{text}" for role, text in inspection.prompt),
        ", ".join(f"{stage} {value} ms" for stage, value in inspection.milliseconds.items()),
    ]
    return "\n".join(lines) + "\n"


def _outcome(judgement: InspectedJudgement) -> str:
    if judgement.refused:
        return f"refused: {judgement.reason}"
    return "pointed to the nearest" if judgement.nearest else "answered"


def _line(c: Candidate) -> str:
    return (
        f"{c.rank:>3} {_place(c.dense):>5} {_place(c.keyword):>7} {c.cosine:>6.3f} {c.share:>6.3f}"
        f" {'–' if c.likeness is None else format(c.likeness, '.3f'):>8} {c.fused:>6.3f}  {c.fate:<15} {c.document}"
    )


def _place(found: RankAndScore | None) -> str:
    return "–" if found is None else f"#{found.rank}"
