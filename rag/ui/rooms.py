"""What the page is given for its rooms beside the chat."""

from dataclasses import dataclass
from pathlib import Path

from ingest.library import Library
from ingest.updates.auto_update import AutoUpdate
from rag.ui.model_setup.setup import ModelSetup


@dataclass(frozen=True, slots=True)
class Rooms:
    """Without `auto_update` the documents cannot be kept up to date from the page, without `library` there is no room
    for them, without `setup` no chat model can be set up. `results` is the folder of evaluation results, `gold` the
    file that is evaluated on, where there is one.
    """

    auto_update: AutoUpdate | None = None
    library: Library | None = None
    results: Path = Path("docs/results")
    gold: Path | None = None
    setup: ModelSetup | None = None

    @property
    def may_change(self) -> bool:
        """Whether readers may change what is answered from."""
        return self.library is not None and self.library.may_change
