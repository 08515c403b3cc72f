"""What the page is given for its rooms beside the chat."""

from dataclasses import dataclass
from pathlib import Path

from rag.following import Following
from rag.shelf import Shelf


@dataclass(frozen=True, slots=True)
class Rooms:
    """Without `following` nobody can have the documents followed, without `shelf` there is no library. `results` is the
    folder of evaluation results, and `gold` the file that is evaluated on, where there is one."""

    following: Following | None = None
    shelf: Shelf | None = None
    results: Path = Path("docs/results")
    gold: Path | None = None

    @property
    def may_change(self) -> bool:
        """Whether readers may change what is answered from."""
        return self.shelf is not None and self.shelf.may_change
