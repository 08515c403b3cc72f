"""The folders and files that the index mirrors, and their documents."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, count
from pathlib import Path

from ingest.previous_generation import Key
from ingest.reading.listing import list_files
from ingest.reading.registry import SUFFIXES
from rag.errors import IngestError
from rag.index.manifest import Root
from rag.index.storage import DocumentEntry
from rag.paths import CORPUS


def absolute(path: Path) -> str:
    return str(path.expanduser().resolve())


def default_root() -> Path:
    """The folder `corpus` in the current directory, else the one that comes with the program."""
    here = Path("corpus")
    return here if here.is_dir() else CORPUS


def choose_roots(known: Sequence[Root], paths: Sequence[Path], remove_root: Path | None) -> tuple[Root, ...]:
    """The known roots without `remove_root`, followed by `paths`. Raises IngestError.

    The only root of an index names its documents by their paths alone; roots added together, or later, prefix their
    names. A root's naming never changes. A root that replaces a removed one names documents as that one did.
    """
    before = [_settled(root, alone=len(known) == 1) for root in known]
    roots, gone = before, None
    if remove_root is not None:
        gone = next((root for root in before if root.path == absolute(remove_root)), None)
        if gone is None:
            listed = ", ".join(root.path for root in before) or "none"
            raise IngestError(f"{absolute(remove_root)} is not a root of the index", hint=f"its roots are: {listed}")
        roots = [root for root in before if root is not gone]
    wanted = list(paths) if paths or roots or remove_root is not None else [default_root()]
    new = {absolute(path): path for path in wanted if absolute(path) not in {root.path for root in roots}}
    takes_place = gone is not None and gone.prefixed is False
    prefixed = len(new) > 1 or bool(roots and not takes_place)
    chosen = list(roots)
    for path in new.values():
        if not path.expanduser().exists():
            raise IngestError(f"{path} does not exist", hint="check the path")
        # Not the removed root's number, which still identifies its documents.
        number = max((root.number for root in (*before, *chosen)), default=-1) + 1
        name = _free_name(path, chosen)
        chosen.append(Root(number=number, path=absolute(path), name=name, prefixed=prefixed))
    return tuple(chosen)


def name_documents(roots: Sequence[Root], keys: Iterable[Key], known: Mapping[Key, DocumentEntry]) -> dict[Key, str]:
    """Each document's name. A known one keeps its name; a new one gets its path below its root, after the root's name
    if that is prefixed. If that is taken, because a folder was later named like a root, its own root's name is
    prefixed."""
    all_keys = list(keys)
    names = {key: known[key].name for key in all_keys if key in known}
    taken = set(names.values())
    by_number = {root.number: root for root in roots}
    for key in sorted(set(all_keys) - names.keys()):
        root = by_number[key[0]]
        name = f"{root.name}/{key[1]}" if root.prefixed else key[1]
        while name in taken:
            name = f"{root.name}/{name}"
        names[key] = name
        taken.add(name)
    return names


def documents_of(
    root: Root, left_out: Callable[[Path, str], None], *, had_documents: bool, allow_empty: bool
) -> Iterator[tuple[Root, str, Path]]:
    """Root, path below it, and path of each document. Calls `left_out` with each skipped file and the reason.

    Raises IngestError if the root is missing or empty.
    """
    path = Path(root.path)
    if not path.exists():
        raise IngestError(
            f"the root {root.path} is missing",
            hint=f"bring it back, or forget it and its documents: python -m ingest --remove-root {root.path}",
        )
    reasons: list[str] = []

    def tell(file: Path, reason: str) -> None:
        if file == CORPUS.resolve() / "README.md":  # for authors of its pages
            return
        reasons.append(reason)
        left_out(file, reason)

    found = list(list_files(path, tell))
    if not found and not allow_empty:
        raise IngestError(
            f"the root {root.path} {'is suddenly empty' if had_documents else 'holds no document'}"
            + (f" ({reasons[0]})" if reasons else ""),
            hint=f"add documents ({' '.join(sorted(SUFFIXES))}), or pass --allow-empty if that is meant",
        )
    return ((root, str(file.relative_to(path)) if file != path else file.name, file) for file in found)


def _settled(root: Root, *, alone: bool) -> Root:
    return root if root.prefixed is not None else root.model_copy(update={"prefixed": not alone})


def _free_name(path: Path, roots: Collection[Root]) -> str:
    """The folder's name; another if a root has it, or a folder in a root whose documents have no prefix."""
    base = Path(absolute(path)).name or "root"
    taken = {root.name for root in roots}
    bare = [Path(root.path) for root in roots if not root.prefixed]
    candidates = chain([base], (f"{base}-{number}" for number in count(2)))
    return next(name for name in candidates if name not in taken and not any((root / name).exists() for root in bare))
