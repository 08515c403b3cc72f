"""Files and texts as tasks for the workers."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ingest.cluster.pool import Task
from ingest.cluster.worker import SentFile
from ingest.prepare import file_state, most_bytes
from ingest.reading.loading import read_file
from ingest.workers import File
from rag.errors import DocumentError
from rag.settings import Settings

# A larger file goes alone.
TASK_BYTES, TASK_FILES = 256 << 10, 16
TASK_TEXTS = 64
# Tasks per worker, if there are enough texts: all workers should finish together.
TASKS_A_WORKER, FEWEST_TEXTS = 4, 8


class Outgoing:
    """Reads the bytes of files, task by task, on request."""

    def __init__(self, settings: Settings, files: Iterable[tuple[int, File]]) -> None:
        self._most_bytes = most_bytes(settings)
        self._files = files
        self._unreadable: list[tuple[int, DocumentError | OSError]] = []
        self._sent: dict[int, tuple[File, tuple[int, int, int]]] = {}

    def tasks(self) -> Iterator[Task]:
        items: list[SentFile] = []
        places: list[int] = []
        size = 0
        for place, file in self._files:
            try:
                state = file_state(file.path)
                data = read_file(file.relative, file.path, max_bytes=self._most_bytes)
            except (DocumentError, OSError) as error:
                self._unreadable.append((place, error))
                continue
            if items and (size + len(data) > TASK_BYTES or len(items) == TASK_FILES):
                yield Task("read", tuple(items), tuple(places), size)
                items, places, size = [], [], 0
            self._sent[place] = file, state
            items.append(SentFile(file.root, file.relative, file.path.suffix, data))
            places.append(place)
            size += len(data)
        if items:
            yield Task("read", tuple(items), tuple(places), size)

    def unreadable(self) -> Iterator[tuple[int, DocumentError | OSError]]:
        """The files since the last call whose bytes could not be read."""
        while self._unreadable:
            yield self._unreadable.pop()

    def settled(self, place: int) -> tuple[File, bool]:
        """The file of a place, and whether it is still as sent."""
        file, before = self._sent.pop(place)
        try:
            return file, file_state(file.path) == before
        except OSError:
            return file, False


def text_tasks(method: str, texts: Sequence[str], workers: int, *more: Any) -> Iterator[Task]:
    """Groups texts of similar length, longest first: a worker embeds them faster, and the last tasks are short."""
    order = sorted(range(len(texts)), key=lambda place: -len(texts[place]))
    step = min(TASK_TEXTS, max(FEWEST_TEXTS, -(-len(texts) // (TASKS_A_WORKER * workers))))
    for start in range(0, len(order), step):
        places = tuple(order[start : start + step])
        items = tuple(texts[place] for place in places)
        yield Task(method, items, places, sum(4 * len(text) for text in items), more)
