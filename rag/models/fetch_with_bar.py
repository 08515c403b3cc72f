"""Fetches a model with a progress bar in the terminal."""

import sys

from tqdm import tqdm

from rag.models.fetch import Progress, fetch
from rag.models.pinned import find
from rag.models.store import ModelState, list_models
from rag.settings import Settings


def fetch_with_bar(
    settings: Settings, name: str, *, accept_licence: bool = False, tell: Progress = lambda done, total: None
) -> str:
    """Fetch a missing model: print its licence and size, then show a progress bar on stderr."""
    model = find(name)
    with tqdm(desc=name, unit="B", unit_scale=True, unit_divisor=1024, file=sys.stderr, delay=0.5) as bar:

        def progress(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)
            tell(done, total)

        if not any(s.model is model and s.state is ModelState.PRESENT for s in list_models(settings.models)):
            sys.stderr.write(f"{model.announcement}\n")
        return str(fetch(name, settings.models, accept_licence=accept_licence, progress=progress))
