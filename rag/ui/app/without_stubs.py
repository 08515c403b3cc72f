"""Gradio without the type stubs that every import rewrites beside its own components: they are for editors, and writing
them takes two fifths of the import time."""

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import ModuleType

WRITER, WRITES = "gradio.component_meta", "create_or_modify_pyi"


class _Loader(SourceFileLoader):
    def exec_module(self, module: ModuleType) -> None:
        super().exec_module(module)
        setattr(module, WRITES, lambda *_: None)


class _Finder(MetaPathFinder):
    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path, target) if name == WRITER else None
        if spec is not None and spec.origin:
            spec.loader = _Loader(name, spec.origin)
        return spec


def write_no_stubs() -> None:
    """Call it before Gradio is imported."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
