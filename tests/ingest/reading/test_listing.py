"""Which files are documents, and what is told of the others."""

from pathlib import Path

from ingest.reading.listing import list_files


def listed(root: Path) -> tuple[list[str], list[tuple[str, str]]]:
    told: list[tuple[str, str]] = []
    names = [path.name for path in list_files(root, lambda path, reason: told.append((path.name, reason)))]
    return names, told


def files(root: Path, *names: str) -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("text")


def test_few_files_of_other_kinds_are_named(tmp_path: Path) -> None:
    files(tmp_path, "a.md", "b.doc", "LICENSE", "README.md", ".hidden", "c.mdx", "d.rst", "e.log", "f.text")
    assert listed(tmp_path) == (
        ["a.md", "c.mdx", "d.rst", "e.log", "f.text"],
        [
            ("README.md", "it describes its folder; give it another name to have it read"),
            ("LICENSE", "a file without an ending is not read"),
            ("b.doc", ".doc files are not read"),
        ],
    )


def test_many_are_counted_by_their_endings(tmp_path: Path) -> None:
    root = tmp_path / "root"
    files(root, "a.md", "NOTES", *(f"{n}.json" for n in range(5)), *(f"sub/{n}.EML" for n in range(9)))
    assert listed(root) == (
        ["a.md"], [("root", "15 files of other kinds: .eml (9), .json (5), without an ending (1)")]
    )  # fmt: skip
    files(root, *(f"x.a{n}" for n in range(20)))
    assert listed(root)[1][0][1].endswith(", others (11)")


def test_linked_folders_are_told(tmp_path: Path) -> None:
    root = tmp_path / "root"
    files(root, "own/a.md")
    files(tmp_path, "elsewhere/b.md")
    (root / "away").symlink_to(tmp_path / "elsewhere")
    (root / "again").symlink_to(root / "own")
    (root / "own" / "loop").symlink_to(root)
    assert listed(root) == (
        ["a.md"],
        [
            ("again", "a link to a folder that is read in its own place"),
            ("away", "a linked folder, which is not followed: add it as a root of its own"),
            ("loop", "a link to a folder that is read in its own place"),
        ],
    )
