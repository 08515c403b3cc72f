"""Markers become links of their own answer, and nothing else does; what is shown is safe."""

import re

import pytest

from rag.types import Answer, Claim
from rag.ui.markdown import join_chunks, join_markers, mark_answer, plain, render

CLAIM = re.compile(r'<span class="claim [^"]*">|</span>')


def answer(text: str, *claims: tuple[str, tuple[int, ...]]) -> Answer:
    return Answer("q", ("q",), text, "extractive", tuple(Claim(t, c, supported=True) for t, c in claims))


def shown(marked: str, turn: int = 2) -> str:
    return render(marked, turn=turn, label="source {number}")


def test_markers_after_their_claims_become_links() -> None:
    text = "RoPE rotates. [1] It extrapolates. [2][3]"
    marked = mark_answer(answer(text, ("RoPE rotates.", (1,)), ("It extrapolates.", (2, 3))))
    assert shown(marked) == (
        '<span class="claim cite-2-1">RoPE rotates.</span> [1](#cite-2-1 "source 1") '
        '<span class="claim cite-2-2">It extrapolates.</span> [2](#cite-2-2 "source 2")[3](#cite-2-3 "source 3")'
    )


def joined(*claims: tuple[str, tuple[int, ...]], documents: dict[int, str] | None = None, between: str = " ") -> str:
    """Claims with their markers, which are shown joined, without the stretches of sentences."""
    text = between.join(claim + "".join(f" [{n}]" if n else " ⚠️" for n in numbers) for claim, numbers in claims)
    found = Answer("q", (), text, "local", tuple(Claim(c, tuple(filter(None, n)), supported=any(n)) for c, n in claims))
    return CLAIM.sub("", shown(join_markers(mark_answer(found), documents or {})))


def numbers_of(text: str) -> list[str]:
    return re.findall(r"\[([\d–]+)\]\(#cite", text)


def test_the_markers_of_a_paragraph_stand_at_its_end_as_one() -> None:
    assert joined(("一。", (1,)), ("二。", (2,))) == '一。二。 [1–2](#cite-2-1-2 "source 1–2")'
    assert joined(("Six.", (6,)), ("Seven.", (7,))) == 'Six. Seven. [6–7](#cite-2-6-7 "source 6–7")'
    assert joined(("四。", (4,)), ("五。", (5,)), between="\n- ") == '四。\n- 五。 [4–5](#cite-2-4-5 "source 4–5")'
    assert numbers_of(joined(("一。", (1, 2)), ("二。", (2, 3)))) == ["1–3"]


def test_markers_stay_apart() -> None:
    one, two = ("One.", (1,)), ("Two.", (2,))
    assert numbers_of(joined(one, two, between="\n\n")) == ["1", "2"]
    assert numbers_of(joined(one, two, documents={1: "a", 2: "b"})) == ["1", "2"]
    assert numbers_of(joined(one, ("Four.", (4,)))) == ["1", "4"]
    assert numbers_of(joined(one, two, between=" something that nobody said. ")) == ["1", "2"]
    assert numbers_of(joined(one, ("It flies.", (0,)), two)) == ["1", "2"]
    assert numbers_of(joined(one, ("| a | b |", (2,)), between="\n")) == ["1", "2"]


def test_a_sentence_after_bold_words_stays_after_them() -> None:
    marked = mark_answer(answer("**标题：**内容。 [1]", ("内容。", (1,))))
    assert shown(marked).startswith('**标题：**<span class="claim cite-2-1">内容。</span>')


def test_a_text_without_markers_stays_as_it_is() -> None:
    assert join_markers("Hello. [1]", {}) == "Hello. [1]"


def test_numbers_in_brackets_of_the_material_stay_text() -> None:
    text = "As [7] shows, x[0] is first. [1] See [1] too."
    marked = mark_answer(answer(text, ("As [7] shows, x[0] is first.", (1,)), ("See [1] too.", (2,))))
    assert shown(marked).count("#cite-") == 1


def test_a_marker_that_is_not_of_the_claim_is_no_link() -> None:
    assert "#cite-" not in shown(mark_answer(answer("A claim. [9]", ("A claim.", (1,)))))


def test_marker_under_a_code_block() -> None:
    code = "```python\nx[1] = '<b>'\n```"
    marked = mark_answer(answer(f"{code}\n\n[1]\n\n", (code, (1,))))
    assert shown(marked).startswith(code)
    assert shown(marked).strip().endswith('[1](#cite-2-1 "source 1")')


def test_streamed_chunks_show_what_the_finished_answer_shows() -> None:
    chunks = ["**Head**\n\n", "One [0]. [1]", " Two. [2][3]\n", "\n\n```\ncode\n```\n\n[4]\n\n"]
    finished = answer("".join(chunks).strip(), ("One [0].", (1,)), ("Two.", (2, 3)), ("```\ncode\n```", (4,)))
    assert shown(join_chunks(chunks)) == CLAIM.sub("", shown(mark_answer(finished))).strip()


def test_a_marker_inside_code_stays_as_it_was_written() -> None:
    assert shown(join_chunks(["```\n", "x = 1 [1]", "\ny\n```\n"])) == "```\nx = 1 [1]\ny\n```"


def test_repeated_answers_link_to_their_own_sources() -> None:
    marked = mark_answer(answer("Same. [1]", ("Same.", (1,))))
    assert "#cite-1-1" in shown(marked, 1)
    assert "#cite-2-1" in shown(marked, 2)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<script>alert(1)</script>", "&lt;script>alert(1)&lt;/script>"),
        ('<img src="http://evil.example/x.png">', '&lt;img src="http://evil.example/x.png">'),
        ("![logo](http://evil.example/x.png)", "[logo](http://evil.example/x.png)"),
        ("![logo][ref]", "[logo][ref]"),
        ("see [QLoRA](qlora.md).", "see QLoRA."),
        ('[a `b[0]`](../x.md "t") and ![](i.png)', "a `b[0]` and "),
        ("[x](javascript:alert(1)) [y](/y) [m](mailto:a@b.c)", "x y m"),
        ("[paper](https://example.org/a)", "[paper](https://example.org/a)"),
        ("`[a](b.md)`\n```\n[a](b.md)\n```", "`[a](b.md)`\n```\n[a](b.md)\n```"),
        ("<https://example.org/a>", "https://example.org/a "),
        ("a `<b>` c", "a `<b>` c"),
        ("$a<b$ and 1 < 2", "\ue004a\\lt b\ue005 and 1 &lt; 2"),
        ("$$x<y$$", "\ue002x\\lt y\ue003"),
        ("$$\nx\n$$", "\ue002\nx\n\ue003"),
        (r"\(a\) \[b\]", "\ue004a\ue005 \ue002b\ue003"),
        ("a price of 5$ and ${x}", "a price of 5$ and ${x}"),
        ("`$a` and `$b`\n```\n$c $d\n```", "`$a` and `$b`\n```\n$c $d\n```"),
        ("```mermaid\ngraph\n```", "```text\ngraph\n```"),
        ("forged \ue0001\ue001 marker \ue004x\ue005", "forged 1 marker x"),
    ],
)
def test_what_is_shown_is_safe(text: str, expected: str) -> None:
    assert shown(join_chunks([text])).strip() == expected.strip()


def test_plain_text_has_no_markup_left() -> None:
    assert plain("<b>*x*</b>\n`y`") == "&#60;b&#62;&#42;x&#42;&#60;/b&#62; &#96;y&#96;"


def test_a_link_is_named_by_its_quote() -> None:
    marked = mark_answer(answer("A claim. [1]", ("A claim.", (1,))))
    quote = 'says "<b>"\n[x](y) `z`'
    linked = CLAIM.sub("", render(marked, turn=1, label="source {number}", quotes={1: quote}))
    assert linked == 'A claim. [1](#cite-1-1 "says &#34;&#60;b&#62;&#34; &#91;x&#93;&#40;y&#41; &#96;z&#96;")'


def unsupported(text: str, claim: str) -> str:
    marked = mark_answer(Answer("q", (), text, "local", (Claim(claim, (), supported=False),)))
    return render(marked, turn=1, label="", unsupported="no support")


def test_a_claim_without_support_is_greyed() -> None:
    open_tag = '<span class="unsupported" title="no support">'
    assert unsupported("- It flies. ⚠️", "It flies.") == f"- {open_tag}It flies.</span> ⚠️"
    assert unsupported("**It** `<b>` flies. ⚠️", "It** `<b>` flies.") == f"{open_tag}**It** `<b>` flies.</span> ⚠️"


@pytest.mark.parametrize("claim", ["| a | b |", "```\ncode\n```", "one\ntwo"])
def test_what_a_stretch_would_tear_is_not_greyed(claim: str) -> None:
    assert "span" not in unsupported(f"{claim} ⚠️", claim)


def test_a_greyed_claim_cannot_be_forged() -> None:
    assert "<span" not in render(mark_answer(answer("\ue006x\ue007", ("x", ()))), turn=1, label="")


@pytest.mark.parametrize("text", ["```python\nx = 1", "~~~\nx", "```", "````\n```\nx"])
def test_code_that_has_not_ended_is_closed(text: str) -> None:
    closed = render(text, turn=1, label="")
    assert closed.startswith(text)
    assert render(closed, turn=1, label="") == closed
    assert closed != text


def test_code_within_a_longer_fence_is_code() -> None:
    text = "````\n```\n<b>[1]\n```\n````\n<i>"
    assert render(text, turn=1, label="") == "````\n```\n<b>[1]\n```\n````\n&lt;i>"


def test_a_fence_that_the_browser_takes_for_text_is_made_safe_as_text() -> None:
    assert "<img" not in render("    ```\n<img src=x>\n    ```", turn=1, label="")


def test_code_that_has_ended_stays_as_it_is() -> None:
    assert render("```\nx\n```\nafter", turn=1, label="") == "```\nx\n```\nafter"
