"""Evidence and answers as the command line prints them; the JSON forms are contracts."""

from typing import Any

from rag.search.retrieval import Evidence
from rag.types import Answer, Found, Hit


def search_as_dict(evidence: Evidence) -> dict[str, Any]:
    return {"query": evidence.query, "results": [_hit(hit) for hit in evidence.hits]}


def _hit(hit: Hit) -> dict[str, Any]:
    passage = hit.passage
    return {
        "rank": hit.rank,
        "score": hit.score,
        "document": passage.document,
        "title": passage.title,
        "section": list(passage.section),
        "start": passage.start,
        "end": passage.end,
        "spans": [list(span) for span in passage.content.spans],
        "text": passage.text,
        "also_in": [{"document": place.document, "start": place.start, "end": place.end} for place in passage.also_in],
        "found_by": {
            name: _found(found) for name, found in (("dense", hit.dense), ("keyword", hit.keyword)) if found is not None
        },
    }


def _found(found: Found) -> dict[str, Any]:
    return {"rank": found.rank, "score": found.score}


def search_as_text(evidence: Evidence) -> str:
    blocks = []
    for hit in evidence.hits:
        found = ", ".join(
            f"{name} #{f.rank} {f.score:.3f}" for name, f in (("dense", hit.dense), ("keyword", hit.keyword)) if f
        )
        path = " > ".join((hit.passage.document, *hit.passage.section))
        blocks.append(f"{hit.rank}. {path}  [{hit.score:.3f}; {found}]\n{_indented(hit.passage.text)}\n")
    return "\n".join(blocks)


def answer_as_dict(answer: Answer) -> dict[str, Any]:
    return {
        "question": answer.question,
        "search_queries": list(answer.search_queries),
        "answer": answer.text,
        "kind": str(answer.kind),
        "nearest": list(answer.nearest),
        "courtesy": None if answer.courtesy is None else str(answer.courtesy),
        "refused": answer.refused,
        "refusal": None
        if answer.refusal is None
        else {
            "reason": answer.refusal.reason,
            "missing": list(answer.refusal.missing),
            "suggestions": list(answer.refusal.suggestions),
            **({"only": list(answer.refusal.only)} if answer.refusal.only else {}),
        },
        "llm": answer.llm,
        "claims": [{"text": c.text, "citations": list(c.citations), "supported": c.supported} for c in answer.claims],
        "citations": [
            {
                "marker": c.marker,
                "document": c.document,
                "title": c.title,
                "start": c.start,
                "end": c.end,
                "quote": c.quote,
                "page": c.page,
                "section": list(c.section),
            }
            for c in answer.citations
        ],
        "steps": [
            {
                "kind": str(s.kind),
                "request": s.request,
                "result": s.result,
                "documents": list(s.documents),
                "failed": s.failed,
                "seconds": s.seconds,
            }
            for s in answer.steps
        ],
        "seconds": {
            "retrieve": round(answer.seconds.retrieve, 4),
            "first_text": round(answer.seconds.first_text, 4),
            "total": round(answer.seconds.total, 4),
        },
    }


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
