"""The vectors of the questions that sections are written down to answer, as the program ships them."""

import numpy as np

from rag.answer.quoted.written_for import key_of, read_written_for
from rag.embedding import Embedder
from rag.language.terms import simplified, stems
from tests.corpus.pages import PAGES
from tests.corpus.test_questions import questions_of

ANEW = "the questions have changed: run `python -m tools.fit.written_for --complete`"
# Sections whose vectors are made again.
SAMPLED = 6


def test_every_section_has_one() -> None:
    known = read_written_for().places
    missing = [
        (page.name, heading)
        for page in PAGES
        for heading, asked in questions_of(page).items()
        if key_of(heading, [*filter(None, map(stems, asked))]) not in known
    ]
    assert not missing, ANEW
    assert len(known) == sum(len(questions_of(page)) for page in PAGES), ANEW


def test_a_vector_is_the_mean_of_its_questions(embedder: Embedder) -> None:
    learnt = read_written_for()
    assert learnt.embedder == embedder.identity
    every = [item for page in PAGES for item in questions_of(page).items()]
    for heading, asked in every[:: len(every) // SAMPLED]:
        vectors = np.stack([embedder.embed_query(simplified(text)) for text in (heading, *asked)]) @ learnt.map
        mean = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).sum(0)
        row = learnt.sections[learnt.places[key_of(heading, [*filter(None, map(stems, asked))])]].astype(np.float32)
        assert row @ mean / np.linalg.norm(row) / np.linalg.norm(mean) > 0.99, ANEW
