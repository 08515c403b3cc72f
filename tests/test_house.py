"""What never happens in the house, each a rule of a few lines; and what `python -m tools.house` measures."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.paths import ROOT
from tools import house


@cache
def modules() -> dict[str, tuple[Path, ast.Module]]:
    """Every module of `rag` and `ingest` by its dotted name."""
    files = [file for package in ("rag", "ingest") for file in sorted((ROOT / package).rglob("*.py"))]
    named = {".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): file for file in files}
    return {name: (file, ast.parse(file.read_text(encoding="utf-8"))) for name, file in named.items()}


@cache
def nodes() -> dict[str, list[ast.AST]]:
    """All that each module is made of, by its dotted name: to walk through it anew for each rule takes seconds."""
    return {name: list(ast.walk(tree)) for name, (_, tree) in modules().items()}


@cache
def imports() -> set[tuple[str, str]]:
    """Pairs of module names: the first imports the second, at its top or within a function."""
    return set(_imports())


def _imports() -> Iterator[tuple[str, str]]:
    for name, parts in nodes().items():
        for node in parts:
            if isinstance(node, ast.ImportFrom) and node.module:
                for alias in node.names:
                    whole = f"{node.module}.{alias.name}"
                    yield name, whole if whole in modules() else node.module
            elif isinstance(node, ast.Import):
                yield from ((name, alias.name) for alias in node.names)


def test_of_two_folders_neither_of_which_holds_the_other_one_stands_below() -> None:
    folder = {name: file.parent for name, (file, _) in modules().items()}
    pairs = {(folder[one], folder[other]) for one, other in imports() if other in folder}
    apart = {(one, other) for one, other in pairs if not one.is_relative_to(other) and not other.is_relative_to(one)}
    assert {pair for pair in apart if pair[::-1] in apart} == set()


def test_within_the_page_not_even_a_folder_and_one_in_it_import_each_other() -> None:
    folder = {name: file.parent for name, (file, _) in modules().items() if name.startswith("rag.ui")}
    pairs = {(folder[one], folder[other]) for one, other in imports() if one in folder and other in folder}
    assert {(one, other) for one, other in pairs if one != other and (other, one) in pairs} == set()


def test_nothing_but_the_program_imports_its_commands() -> None:
    asked = {one for one, other in imports() if other.startswith("rag.commands")}
    assert {name for name in asked if name != "rag.__main__" and not name.startswith("rag.commands")} == set()


def test_an_answer_becomes_json_in_one_place() -> None:
    form = re.compile(r'"courtesy": ')
    written = {name for name, (file, _) in modules().items() if form.search(file.read_text(encoding="utf-8"))}
    assert written == {"rag.wire"}


# Whose patterns hold Chinese: the room for it, the repairs of scraped pages, and what some formats themselves write.
CHINESE_PATTERNS = (
    "rag.language.",
    "ingest.structure.scraped.",
    "ingest.formats.html.notes",  # 注 before a note
    "ingest.formats.office.word.body",  # names of styles
    "ingest.formats.pdf.margins",  # numbers of pages
    "ingest.formats.sheets.number_formats",  # 上午/下午
)


def test_patterns_of_chinese_words_stand_in_one_room() -> None:
    """A pattern is any string but a docstring that looks like one, wherever it is compiled."""
    chinese, pattern = re.compile(r"[\u3400-\u9fff]"), re.compile(r"\\[sSdDwWbB]|\(\?|\[.+\]|[)\]}.][*+?{]|\|")
    found = set()
    for name, parts in nodes().items():
        strings = {node for node in parts if isinstance(node, ast.Constant) and isinstance(node.value, str)}
        statements = {node.value for node in parts if isinstance(node, ast.Expr)}
        texts = (str(node.value) for node in strings - statements)
        if not name.startswith(CHINESE_PATTERNS):
            found |= {(name, text) for text in texts if chinese.search(text) and pattern.search(text)}
    assert found == set()


# Who reads YAML (front matter) and who parses Markdown. No others shall.
PARSED_BY = {
    "yaml": {"rag.text.front_matter"},
    "markdown_it": {"rag.practice.exports", "rag.text.markdown"},
}


@pytest.mark.parametrize("library", PARSED_BY)
def test_few_modules_parse_what_documents_hold(library: str) -> None:
    assert {one for one, other in imports() if other.partition(".")[0] == library} == PARSED_BY[library]


# What tells from a heading what its section is for; nothing compares a heading with names once a page was read.
TOLD_BY_HEADINGS = {
    "role_of", "translation_of", "english_name", "HEADINGS", "ROLES", "TRANSLATIONS", "LISTS_MISTAKES",
    "FOLLOW_UPS_BEGIN", "FOLLOW_UPS_END",
}  # fmt: skip


def test_roles_and_translations_are_told_where_pages_are_read() -> None:
    outside = {
        (name, node.module)
        for name, parts in nodes().items()
        for node in parts
        if isinstance(node, ast.ImportFrom)
        and node.module in ("rag.text.roles", "rag.language.headings", "rag.language.claim_marks")
        and not name.startswith(("rag.text.", "ingest."))
        if TOLD_BY_HEADINGS & {alias.name for alias in node.names}
    }
    assert outside == set()


def test_what_is_expected_to_fail_says_why() -> None:
    bare = set()
    for file in sorted((ROOT / "tests").rglob("*.py")):
        if "xfail" in (text := file.read_text(encoding="utf-8")):
            parts = list(ast.walk(ast.parse(text)))
            calls = (node for node in parts if isinstance(node, ast.Call))
            told = {call.func for call in calls if any(keyword.arg == "reason" for keyword in call.keywords)}
            marks = {node for node in parts if isinstance(node, ast.Attribute) and node.attr == "xfail"}
            bare |= {f"{file.relative_to(ROOT)}:{mark.lineno}" for mark in marks - told}
    assert bare == set()


def test_a_public_class_name_stands_once_in_rag() -> None:
    classes = (
        node.name
        for name, parts in nodes().items()
        for node in parts
        if name.partition(".")[0] == "rag" and isinstance(node, ast.ClassDef)
    )
    assert {name for name, times in Counter(classes).items() if times > 1 and not name.startswith("_")} == set()


# Bare participles, which say what happened to a thing and not what it is; and the classes named so all the same.
PARTICIPLES = {
    "Added", "Answered", "Asked", "Begun", "Chosen", "Cleaned", "Coded", "Compared", "Described", "Done", "Embedded",
    "Fetched", "Found", "Given", "Heard", "Held", "Kept", "Known", "Left", "Listed", "Loaded", "Lost", "Made",
    "Mirrored", "Named", "Ranked", "Read", "Said", "Sent", "Shown", "Spoken", "Told", "Wanted", "Warned", "Written",
}  # fmt: skip
NAMED_SO = {
    "rag.answer.quoted.features": "Wanted",
    "rag.server.http.lookups": "Asked Found",  # names of the API's description
}


def test_classes_are_named_for_what_they_are() -> None:
    classes = ((name, node.name) for name, parts in nodes().items() for node in parts if isinstance(node, ast.ClassDef))
    bare = {(name, found) for name, found in classes if found.lstrip("_") in PARTICIPLES}
    assert bare == {(name, found) for name, names in NAMED_SO.items() for found in names.split()}


# How many lines `rag` and `ingest` have, up to a hundred; whoever makes them fewer lowers it.
MOST_LINES = 57_000


def test_the_program_does_not_grow() -> None:
    assert sum(len(file.read_text(encoding="utf-8").splitlines()) for file, _ in modules().values()) <= MOST_LINES


# What makes tags of its own, and why nothing need be escaped there.
TAGS_OF_ITS_OWN = {
    "rag.ui.markdown": "between its tags is Markdown, and the text of an attribute is `plain`",
    "rag.ui.app.policy": "constants alone, and texts that it escapes",
    "rag.ui.readable": "each text is escaped where it enters; a document has thousands of pieces",
}


def test_text_gets_into_html_by_templates() -> None:
    tag = re.compile(r"(?<!\(\?P)</?[a-z][\w-]*[\s/>]")
    made = set()
    for name, nodes_of_it in nodes().items():
        strings = (node for node in nodes_of_it if isinstance(node, ast.JoinedStr))
        parts = (part for string in strings for part in string.values if isinstance(part, ast.Constant))
        if name.startswith("rag.ui.") and any(tag.search(str(part.value)) for part in parts):
            made.add(name)
    assert made == set(TAGS_OF_ITS_OWN)


def test_a_file_counts_where_a_function_of_it_is_entered(tmp_path: Path) -> None:
    """In threads that the work starts as well, and not because it was imported."""
    from threading import Thread

    from rag.language import language
    from rag.language.terms import fold

    def work() -> None:
        thread = Thread(target=fold, args=("RoPE",))
        thread.start()
        thread.join()

    assert house.files_entered(work) == {"rag/language/terms.py"}
    assert language.__name__ == "rag.language.language"


def test_the_map_names_every_folder() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    drawn = text.partition("## The map")[2].partition("```\n")[2].partition("```")[0]
    folders = {file.parent for package in ("ingest", "rag") for file in (ROOT / package).rglob("*.*")}
    names = {folder.name for folder in folders if "__pycache__" not in folder.parts and not _is_of_files(folder)}
    assert {name for name in names if f"{name}/" not in drawn} == set()


def _is_of_files(folder: Path) -> bool:
    """Whether it holds data alone."""
    return not any(folder.glob("*.py")) and not any(folder.glob("*.js"))
