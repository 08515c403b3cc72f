"""Wrapped lines are one paragraph, and paragraphs end where they do."""

import pytest

from ingest.formats.pdf import read
from ingest.formats.pdf.words import Words, glue
from tests.ingest.formats.pdf_file import lines, pdf_of, said

FULL = [
    "A paragraph of several lines, each of which is as wide as the column in which it",
    "stands, so that the first word of the next one had no room on it any more, and it",
    "ends here.",
]
WHOLE = " ".join(FULL)


def text_of(*pages: str) -> str:
    return read(pdf_of(pages)).text


def test_chinese_lines_are_joined_without_a_space() -> None:
    page = lines(
        60, 700, ["梯度检查点只保留部分激活值，其余的在反向传播时", "重新计算，以额外计算换取显存。"], font="Z", step=16
    )
    assert text_of(page) == "梯度检查点只保留部分激活值，其余的在反向传播时重新计算，以额外计算换取显存。\n"


def test_lines_that_somebody_has_broken_are_joined() -> None:
    broken = [
        "Gradient checkpointing keeps only some of the activations of",
        "the forward pass and computes the others again in the",
        "backward pass, which trades about a third more work for",
        "memory. It helps most with long inputs.",
    ]
    assert text_of(lines(60, 700, broken)) == " ".join(broken) + "\n"


def test_indents_and_gaps_begin_paragraphs() -> None:
    indented = said(74, 700, FULL[0]) + lines(60, 688, FULL[1:]) + said(74, 664, FULL[0]) + lines(60, 652, FULL[1:])
    assert text_of(indented) == f"{WHOLE}\n\n{WHOLE}\n"
    apart = lines(60, 700, FULL) + lines(60, 646, FULL)
    assert text_of(apart) == f"{WHOLE}\n\n{WHOLE}\n"


def test_references_that_hang_are_apart() -> None:
    entry = said(60, 700, FULL[0]) + lines(74, 688, FULL[1:])
    other = said(60, 664, FULL[0].replace("A para", "One para")) + lines(74, 652, FULL[1:])
    assert text_of(entry + other) == f"{WHOLE}\n\n{WHOLE.replace('A para', 'One para')}\n"


def test_short_lines_stay_lines() -> None:
    names = ["apples", "pears", "blueberries of the woods", "cherries", "plums"]
    assert text_of(lines(60, 700, names)).split("\n\n") == [*names[:-1], "plums\n"]
    facts = ["Name: Ann", "Age: 41", "City: Leeds", "Team: Platform"]
    assert text_of(lines(60, 700, facts)).split("\n\n") == [*facts[:-1], "Team: Platform\n"]


def test_lines_of_a_list_of_contents_stay_apart() -> None:
    entries = [f"{name} {'.' * 60} {page}" for name, page in (("Introduction", 3), ("Methods", 10), ("Results", 17))]
    assert text_of(lines(60, 700, entries)).strip().split("\n\n") == entries


def test_a_value_beside_its_label_is_on_its_line() -> None:
    page = said(60, 700, "Name:") + said(140, 700, "Ann Smith") + said(60, 680, "Role:") + said(140, 680, "Engineer")
    assert text_of(page) == "Name: Ann Smith\n\nRole: Engineer\n"


def test_a_footnote_does_not_part_a_sentence_from_its_end_on_the_next_page() -> None:
    first = lines(60, 700, FULL[:2]) + said(60, 103, "1", size=5) + said(66, 100, "A note in small type.", size=8)
    extract = read(pdf_of([first, lines(60, 700, FULL[2:] * 1 + ["Then more."])]))
    assert extract.text.startswith(f"¹ A note in small type.\n\n{FULL[0]} {FULL[1]} ends here.")
    assert extract.text[extract.pages[1] :].startswith("ends here.")


def test_what_is_painted_first_may_stand_below() -> None:
    statements = [f"Statement {n} stands by itself.{' ' * n}" for n in range(6)]
    page = "".join(said(60, 700 - 20 * n, text) for n, text in reversed(list(enumerate(statements))))
    assert text_of(page).split() == " ".join(statements).split()


def test_a_text_in_type_of_one_width_is_no_code() -> None:
    page = lines(60, 700, [*FULL[:2]] * 8 + FULL[2:], font="C")
    assert "```" not in text_of(page)
    code = ["for step in range(10):", "    x = step", "    print(x)"]
    assert "```\nfor step in range(10):\n    x = step\n    print(x)\n```" in text_of(lines(60, 700, code, font="C"))


@pytest.mark.parametrize(
    ("before", "after", "joined"),
    [
        ("the opti-", "mizer", "the optimizer"),
        ("a state-of-the-", "art result", "a state-of-the-art result"),
        ("it is well-", "known", "it is well-known"),
        ("the pre-", "training", "the pre-training"),
        ("an OP-", "TIONAL value", "an OPTIONAL value"),
        ("the GPU-", "CPU link", "the GPU-CPU link"),
        ("in 2019-", "2020", "in 2019-2020"),
        ("see https://example.org/a-", "page", "see https://example.org/a-page"),
        ("see https://example.org/", "page", "see https://example.org/page"),
        ("a dash -", "and more", "a dash - and more"),
        ("数据并", "行", "数据并行"),
        ("常用的 GPU", "显存", "常用的 GPU显存"),
        ("한국어", "문장", "한국어 문장"),
        ("at 10", "⁻⁴ of it", "at 10⁻⁴ of it"),
    ],
)
def test_the_end_of_one_line_and_the_beginning_of_the_next(before: str, after: str, joined: str) -> None:
    words = Words(lambda: ("well known and known well", "pre-training", "OPTIONAL", before, after))
    between, cut = glue(before, after, words)
    assert before[: len(before) - cut] + between + after == joined
