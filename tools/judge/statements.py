"""What the judge is trained on: claims of pages, and statements that say them rightly or the wrong way round.

A row of JSON lines is `document`, `claim` (word for word from the page), `right` and `wrong` (statements as candidates
make them).
"""

import hashlib
import json
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rag.language.terms import simplified
from rag.practice.judge import Relation

# One page in so many is left out of training, to measure on.
HELD_OUT_PAGES = 10


@dataclass(frozen=True, slots=True)
class Claim:
    document: str
    text: str
    right: tuple[str, ...]
    wrong: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Pair:
    claim: str
    statement: str
    relation: Relation


def read_claims(files: Iterable[Path]) -> list[Claim]:
    rows = (json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines())
    return [Claim(row["document"], row["claim"], tuple(row["right"]), tuple(row["wrong"])) for row in rows]


def is_held_out(document: str) -> bool:
    return hashlib.sha256(document.encode()).digest()[1] % HELD_OUT_PAGES == 0


def pairs_of(claims: Sequence[Claim], seed: int) -> list[Pair]:
    """Every statement with its claim, with one that says the claim, and with another claim of its page, of which it
    says nothing; every right one with a wrong one, so that no wording is wrong by itself; every claim with itself. In
    an order that the seed decides."""
    rng = random.Random(seed)
    of_page: dict[str, list[Claim]] = {}
    for claim in claims:
        of_page.setdefault(claim.document, []).append(claim)
    pairs = [pair for claim in claims for pair in _of_claim(claim, of_page[claim.document], rng)]
    rng.shuffle(pairs)
    return pairs


def _of_claim(claim: Claim, page: Sequence[Claim], rng: random.Random) -> Iterator[Pair]:
    text, right, wrong = simplified(claim.text), [*map(simplified, claim.right)], [*map(simplified, claim.wrong)]
    others = [simplified(other.text) for other in page if other.text != claim.text]
    for statements, relation in ((right, Relation.SAYS), (wrong, Relation.DENIES)):
        for statement in statements:
            yield Pair(text, statement, relation)
            if also := [one for one in right if one != statement]:
                yield Pair(rng.choice(also), statement, relation)
            if others and rng.random() < 0.5:
                yield Pair(rng.choice(others), statement, Relation.OTHER)
    if wrong:
        yield from (Pair(rng.choice(wrong), statement, Relation.DENIES) for statement in right)
    if rng.random() < 0.2:
        yield Pair(text, text, Relation.SAYS)
