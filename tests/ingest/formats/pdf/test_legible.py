"""What a PDF shows but cannot be read as text is told, with its pages."""

import pytest

from ingest.formats.extract import UnreadableError
from ingest.formats.pdf import read
from rag.errors import Unreadable
from tests.ingest.formats.pdf_file import lines, pdf_of, said

PICTURE = "q {} 0 0 {} 0 {} cm BI /W 1 /H 1 /CS /G /BPC 8 ID \x80 EI Q\n"
GOOD = lines(60, 700, ["A page of text that can be read as it is, with all letters named.", "And another line of it."])


def nameless(text: str) -> str:
    """The codes of the glyphs that show a text: the letters lie 29 places lower, as in many subsets of fonts."""
    return "".join("\x03" if letter == " " else chr(ord(letter) - 29) for letter in text)


def fox(y: float) -> str:
    return said(60, y, nameless("The quick brown fox jumps over the lazy dog."), font="X")


def test_a_document_without_names_of_letters_is_refused_and_says_why() -> None:
    with pytest.raises(UnreadableError, match=r"cannot be read as text: .*pages 1-2") as caught:
        read(pdf_of([fox(700) + fox(680), fox(700)]))
    assert caught.value.reason is Unreadable.SCANNED
    assert "ocr" in caught.value.hint


def test_pages_without_names_of_letters_are_told() -> None:
    extract = read(pdf_of([GOOD, fox(700) + fox(680), GOOD]))
    assert extract.text.count("A page of text") == 2
    assert "WKH" not in extract.text.upper()
    (warning,) = extract.warnings
    assert warning.startswith("the letters of these pages cannot be read as text")
    assert "left out: 2;" in warning


def test_letters_within_a_page_are_told_and_marked() -> None:
    price = said(60, 600, "Price: ") + said(92, 600, nameless("ab"), font="X") + said(110, 600, "per unit")
    extract = read(pdf_of([GOOD, GOOD + price]))
    assert "Price: \ufffd per unit" in extract.text
    assert extract.warnings == (
        "some letters cannot be read as text, because their font does not map them to Unicode, and were left out: 2",
    )


def test_codes_that_are_the_letters_are_trusted() -> None:
    """Old programs write fonts without names whose codes are those of the letters all the same."""
    extract = read(pdf_of([said(60, 700, "The letters of this font are what they seem.", font="X")]))
    assert extract.text == "The letters of this font are what they seem.\n"
    assert extract.warnings == ()


def test_a_sign_before_an_item_is_a_bullet() -> None:
    extract = read(pdf_of([GOOD + said(60, 600, nameless("n"), font="X") + said(75, 600, "an item of a list")]))
    assert extract.text.endswith("\n\n- an item of a list\n")
    assert extract.warnings == ()


def test_a_page_whose_picture_comes_in_strips_is_a_scan() -> None:
    strips = "".join(PICTURE.format(595, 105.25, n * 105.25) for n in range(8))
    assert read(pdf_of([GOOD, strips])).warnings == ("scanned pages without text were left out: 2",)


def test_a_picture_with_a_stamp_on_it_is_told() -> None:
    page = PICTURE.format(595, 842, 0) + said(60, 20, "Scanned by the archive on 3 May, folder 12")
    extract = read(pdf_of([GOOD, page]))
    assert extract.text.endswith("Scanned by the archive on 3 May, folder 12\n")
    assert extract.warnings == ("the words in pictures that fill these pages were left out: 2",)


def test_letters_drawn_as_shapes_are_told_and_empty_pages_are_not() -> None:
    shapes = "".join(f"{60 + 9 * n} 700 m {64 + 9 * n} 709 {66 + 9 * n} 709 {68 + 9 * n} 700 c f\n" for n in range(50))
    assert read(pdf_of([GOOD, shapes, ""])).warnings == ("scanned pages without text were left out: 2",)


def test_attached_files_are_told() -> None:
    names = "/Names << /EmbeddedFiles << /Names [(data.csv) << /Type /Filespec /F (data.csv) /UF (data.csv) >>] >> >>"
    assert read(pdf_of([GOOD], catalog=names)).warnings == ("attached files were left out: data.csv",)
