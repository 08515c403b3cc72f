"""Which roots an index has, and what their documents are called."""

import shutil
from pathlib import Path

import pytest

from ingest.sources import choose_roots
from rag.errors import IngestError
from rag.index.generation import current_generation
from rag.index.manifest import Root
from tests.ingest.library import Library, counts


def test_roots_that_come_later_have_prefixes(library: Library) -> None:
    library.page("rope", root="notes")
    library.page("beam", root="more/notes")
    library.sync()
    report = library.sync(library.folder / "notes", library.folder / "more" / "notes")
    assert counts(report) == {"added": 2, "unchanged": 3}
    assert report.passages_embedded == 2
    expected = ["attention.md", "lora.md", "norm.md", "notes-2/beam.md", "notes/rope.md"]
    assert library.names() == expected


def test_roots_that_come_together_have_prefixes(library: Library) -> None:
    library.page("rope", root="notes")
    library.sync(library.root, library.folder / "notes")
    assert library.names() == ["docs/attention.md", "docs/lora.md", "docs/norm.md", "notes/rope.md"]
    library.sync(remove_root=library.folder / "notes")
    assert library.names() == ["docs/attention.md", "docs/lora.md", "docs/norm.md"]
    library.sync(rebuild=True)
    assert library.names() == ["docs/attention.md", "docs/lora.md", "docs/norm.md"]


def test_names_stay_whatever_roots_come_and_go(library: Library) -> None:
    library.sync()
    own = ["attention.md", "lora.md", "norm.md"]
    assert library.names() == own
    library.page("rope", root="a/notes")
    library.page("beam", root="b/notes")
    library.sync(library.folder / "a" / "notes")
    library.sync(library.folder / "b" / "notes")
    assert library.names() == [*own, "notes-2/beam.md", "notes/rope.md"]
    library.sync(remove_root=library.folder / "a" / "notes")
    assert library.names() == [*own, "notes-2/beam.md"]
    library.sync(rebuild=True)
    assert library.names() == [*own, "notes-2/beam.md"]
    library.sync(library.folder / "a" / "notes")
    assert library.names() == [*own, "notes-2/beam.md", "notes/rope.md"]
    library.sync(remove_root=library.folder / "b" / "notes")
    library.sync(remove_root=library.folder / "a" / "notes")
    assert library.names() == own


def test_a_root_that_was_moved_keeps_its_names(library: Library) -> None:
    library.sync()
    library.page("rope", root="notes")
    library.sync(library.folder / "notes")
    names = library.names()
    moved = library.root.rename(library.folder / "renamed")
    assert counts(library.sync(moved, remove_root=library.root)) == {"added": 3, "removed": 3, "unchanged": 1}
    assert library.names() == names
    (library.folder / "elsewhere").mkdir()
    again = (library.folder / "notes").rename(library.folder / "elsewhere" / "notes")
    assert counts(library.sync(again, remove_root=library.folder / "notes")) == {
        "added": 1,
        "removed": 1,
        "unchanged": 3,
    }
    assert library.names() == names


def test_a_root_called_like_a_folder_of_the_first(library: Library) -> None:
    library.page("rope", name="notes/rope.md")
    library.sync()
    library.page("rope", name="rope.md", root="notes")
    library.page("beam", name="beam.md", root="notes")
    library.sync(library.folder / "notes")
    names = ["attention.md", "lora.md", "norm.md", "notes-2/beam.md", "notes-2/rope.md", "notes/rope.md"]
    assert library.names() == names
    library.page("beam", name="notes-2/beam.md")  # a folder that comes later
    for _ in range(2):
        library.sync()
        assert library.names() == sorted([*names, "docs/notes-2/beam.md"])


def test_the_default_root_is_the_corpus_here_else_that_of_the_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program, elsewhere = tmp_path / "program", tmp_path / "elsewhere"
    (program / "corpus").mkdir(parents=True)
    elsewhere.mkdir()
    monkeypatch.setattr("ingest.sources.CORPUS", program / "corpus")
    monkeypatch.chdir(elsewhere)
    assert [root.path for root in choose_roots([], [], None)] == [str(program / "corpus")]
    (elsewhere / "corpus").mkdir()
    assert [root.path for root in choose_roots([], [], None)] == [str(elsewhere / "corpus")]


def test_indexes_of_before_keep_their_names(library: Library) -> None:
    first = Root(number=0, path="/a/docs", name="docs")
    second = Root(number=1, path="/a/notes", name="notes")
    new = library.folder / "docs"
    assert [root.prefixed for root in choose_roots([first], [new], None)] == [False, True]
    assert [root.prefixed for root in choose_roots([first, second], [], None)] == [True, True]


def test_a_root_is_forgotten_while_another_is_missing(library: Library) -> None:
    library.page("rope", root="notes")
    library.sync(library.root, library.folder / "notes")
    library.root.rename(library.folder / "gone")
    report = library.sync(remove_root=library.folder / "notes", named_only=True)
    assert counts(report) == {"removed": 1, "unchanged": 3}


def test_a_root_may_be_a_file(library: Library) -> None:
    path = library.page("rope", root="single")
    report = library.sync(path)
    assert counts(report) == {"added": 1}
    assert library.names() == ["rope.md"]


def test_paths_sync_only_their_roots(library: Library) -> None:
    library.page("rope", root="notes")
    library.sync(library.root, library.folder / "notes")
    library.page("beam", root="notes")
    library.page("beam", root="docs")
    report = library.sync(library.folder / "notes")
    assert counts(report) == {"added": 1, "unchanged": 4}
    assert "docs/beam.md" not in library.names()
    assert counts(library.sync()) == {"added": 1, "unchanged": 5}


def test_a_root_that_is_not_asked_for_may_be_missing(library: Library) -> None:
    library.page("rope", root="notes")
    library.sync(library.root, library.folder / "notes")
    shutil.rmtree(library.folder / "notes")
    assert counts(library.sync(library.root)) == {"unchanged": 4}


def test_remove_root(library: Library) -> None:
    library.page("rope", root="notes")
    library.sync(library.root, library.folder / "notes")
    shutil.rmtree(library.folder / "notes")
    report = library.sync(remove_root=library.folder / "notes")
    assert counts(report) == {"removed": 1, "unchanged": 3}
    assert library.names() == ["docs/attention.md", "docs/lora.md", "docs/norm.md"]
    with pytest.raises(IngestError, match="is not a root of the index") as caught:
        library.sync(remove_root=library.folder / "notes")
    assert str(library.root) in caught.value.hint


def test_removing_the_last_root_leaves_an_empty_index(library: Library) -> None:
    library.sync()
    report = library.sync(remove_root=library.root)
    assert (counts(report), report.passages_total) == ({"removed": 3}, 0)
    assert library.names() == []


def test_a_missing_root_is_refused(library: Library) -> None:
    library.sync()
    library.root.rename(library.folder / "gone")
    with pytest.raises(IngestError, match="is missing") as caught:
        library.sync()
    assert f"--remove-root {library.root}" in caught.value.hint
    assert len(library.names()) == 3


def test_a_path_that_does_not_exist_is_refused(library: Library) -> None:
    with pytest.raises(IngestError, match="nowhere does not exist"):
        library.sync(library.folder / "nowhere")
    assert current_generation(library.settings.index) is None


def test_a_suddenly_empty_root_is_refused(library: Library) -> None:
    library.sync()
    for path in library.root.iterdir():
        path.unlink()
    with pytest.raises(IngestError, match="suddenly empty"):
        library.sync()
    assert len(library.names()) == 3
    assert counts(library.sync(allow_empty=True)) == {"removed": 3}
    assert library.names() == []


def test_a_root_without_documents_is_refused(library: Library) -> None:
    (library.folder / "empty").mkdir()
    with pytest.raises(IngestError, match="holds no document"):
        library.sync(library.folder / "empty")


def test_a_root_in_place_of_another_is_not_taken_for_it(library: Library) -> None:
    library.page("norm", "same.md", root="old")
    library.sync(library.root, library.folder / "old")
    (library.folder / "new").mkdir()
    (library.folder / "new" / "same.md").write_bytes(b"\x00")
    report = library.sync(library.folder / "new", remove_root=library.folder / "old", allow_empty=True)
    assert counts(report) == {"removed": 1, "unchanged": 3, "failed": 1}
    assert not [name for name in library.names() if "same" in name]
