"""Evidence and answers as the command line prints them for people."""

from rag.search.retrieval import Evidence
from rag.types import Answer


def search_as_text(evidence: Evidence) -> str:
    blocks = []
    for hit in evidence.hits:
        found = ", ".join(
            f"{name} #{f.rank} {f.score:.3f}" for name, f in (("dense", hit.dense), ("keyword", hit.keyword)) if f
        )
        path = " > ".join((hit.passage.document, *hit.passage.section))
        blocks.append(f"{hit.rank}. {path}  [{hit.score:.3f}; {found}]\n{_indented(hit.passage.text)}\n")
    return "\n".join(blocks)


def answer_as_text(answer: Answer) -> str:
    sources = "\n".join(
        f"[{c.marker}] {c.document}{'' if c.page is None else f' p. {c.page}'} {c.start}–{c.end}: "
        + " ".join(c.quote.split())[:100]
        for c in answer.citations
    )
    steps = "".join(
        f"{number}. {step.kind}: {step.request} → {step.result or ', '.join(step.documents)}\n"
        for number, step in enumerate(answer.steps, start=1)
    )
    nearest = "".join(f"- {question}\n" for question in answer.nearest)
    return (
        f"{answer.text}\n"
        + (f"\n{nearest}" if nearest else "")
        + (f"\n{sources}\n" if sources else "")
        + (f"\n{steps}" if steps else "")
    )


def _indented(text: str) -> str:
    return "\n".join(f"   {line}" for line in text.splitlines())
