"""Packages that only evaluation needs, from the extra `evaluation`; checked before the work starts."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

from rag.errors import UsageError

INSTALL = 'pip install "interview-rag[evaluation]"'
# For measuring; baselines and figures import theirs where they use them.
PACKAGES = ("ir_measures", "scipy", "sklearn")


def require_evaluation_extra() -> None:
    """Raises UsageError if a package is missing, before a model is loaded for nothing."""
    missing = [package for package in PACKAGES if find_spec(package) is None]
    if missing:
        raise UsageError(f"evaluation needs what is not installed: {', '.join(missing)}", hint=INSTALL)


@contextmanager
def evaluation_extra() -> Iterator[None]:
    """For imports of the extra's packages: if one fails, UsageError says what to install."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # langchain-community announces its retirement
            yield
    except ImportError as error:
        raise UsageError(f"evaluation needs what is not installed: {error}", hint=INSTALL) from error
