"""The index before a run: roots, documents, vectors. A rebuild salvages what it can from a damaged index."""

from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from rag.errors import IndexCorruptError, IndexMismatchError, IndexMissingError
from rag.index.generation import STORAGE_FILE, DiskIndex, open_index, sealed_generations
from rag.index.manifest import FORMATS, REBUILD_HINT, Manifest, Root, verify_file
from rag.index.storage import DocumentEntry, Storage, StoredDocument
from rag.settings import Settings, rebuild_settings

Key = tuple[int, str]
"""Number of the root, path below it."""


@dataclass(frozen=True)
class PreviousGeneration:
    """`index` is the live generation if it is intact, `storage` the documents that are still readable. `is_kept` says
    that unchanged documents may be reused; a rebuild may not."""

    roots: tuple[Root, ...] = ()
    index: DiskIndex | None = None
    storage: Storage | None = None
    is_kept: bool = False

    def entries(self) -> dict[Key, DocumentEntry]:
        return {} if self.storage is None else {entry.key: entry for entry in self.storage.entries()}

    def documents(self) -> dict[Key, StoredDocument]:
        found = () if self.storage is None else self.storage.documents(with_passages=True)
        return {document.entry.key: document for document in found}

    def close(self) -> None:
        if self.index is not None:
            self.index.close()
        elif self.storage is not None:
            self.storage.close()


def open_earlier(settings: Settings, identity: str, *, rebuild: bool) -> PreviousGeneration:
    """Raises IndexCorruptError or IndexMismatchError, except for a rebuild."""
    try:
        index = open_index(settings.index)
    except IndexMissingError:
        return _salvage(settings.index)
    except (IndexCorruptError, IndexMismatchError):
        if not rebuild:
            raise
        return _salvage(settings.index)
    manifest = index.manifest
    made_with, wanted = manifest.settings, rebuild_settings(settings, identity)
    differing = [name for name in wanted if made_with.get(name) != wanted[name]]
    if differing and not rebuild:
        index.close()
        raise IndexMismatchError(
            f"the index at {settings.index} was made with "
            + ", ".join(f"{name} {made_with.get(name)!r}, the settings name {wanted[name]!r}" for name in differing),
            hint=REBUILD_HINT,
        )
    return PreviousGeneration(manifest.roots, index, index.storage, is_kept=not rebuild)


def _salvage(index_folder: Path) -> PreviousGeneration:
    """The roots of an index that cannot be opened, and the documents in its newest intact store."""
    roots: tuple[Root, ...] = ()
    for folder, raw in sealed_generations(index_folder):
        try:
            roots = roots or tuple(Root.model_validate(root) for root in raw["roots"])
            if raw["format"] in FORMATS:
                verify_file(folder / STORAGE_FILE, Manifest.model_validate(raw).files[STORAGE_FILE])
                return PreviousGeneration(roots, storage=Storage(folder / STORAGE_FILE))
        except (KeyError, TypeError, ValidationError, IndexCorruptError):
            continue
    return PreviousGeneration(roots)
