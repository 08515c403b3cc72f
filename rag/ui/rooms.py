"""What the page needs for its rooms besides the chat."""

from dataclasses import dataclass
from pathlib import Path

from ingest.library import Library
from ingest.updates.auto_update import AutoUpdate
from rag.ui.model_setup.setup import ModelSetup


@dataclass(frozen=True, slots=True)
class Rooms:
    """Without `auto_update` the page cannot keep the documents up to date, without `library` it has no room for them,
    without `setup` it cannot set up a chat model. `results` is the folder of evaluation results, `gold` the file to
    evaluate on, if there is one.
    """

    auto_update: AutoUpdate | None = None
    library: Library | None = None
    results: Path = Path("docs/results")
    gold: Path | None = None
    setup: ModelSetup | None = None

    @property
    def may_change(self) -> bool:
        """Whether readers may change the documents."""
        return self.library is not None and self.library.may_change
