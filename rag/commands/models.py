"""python -m rag models list | fetch NAME | verify"""

import argparse
import sys
from typing import TYPE_CHECKING, Any

from rag.cli import add_common_options, print_json, settings_from
from rag.models import ModelState, ModelStatus, list_models, verify
from rag.models.fetch import fetch_with_bar
from rag.settings import Settings

if TYPE_CHECKING:
    from rag.cli import Commands


def add_models(commands: "Commands") -> None:
    actions = commands.add_parser("models", help="list, fetch and verify models").add_subparsers(
        dest="action", required=True
    )
    for name, text in (
        ("list", "what there is and what is here"),
        ("fetch", "fetch a model"),
        ("verify", "check the fetched models"),
    ):
        action = actions.add_parser(name, help=text)
        add_common_options(action)
        action.set_defaults(main=_models)
        if name == "fetch":
            action.add_argument("name", help="name of the model")
            action.add_argument(
                "--accept-licence", action="store_true", help="accept the licence of a model that asks for it"
            )


def _models(options: argparse.Namespace) -> int:
    settings = settings_from(options)
    match options.action:
        case "list":
            return models_list(settings, as_json=options.json)
        case "fetch":
            return models_fetch(settings, options.name, accept_licence=options.accept_licence, as_json=options.json)
        case _:
            return models_verify(settings, as_json=options.json)


def models_list(settings: Settings, *, as_json: bool) -> int:
    _print(list_models(settings.models), as_json=as_json)
    return 0


def models_verify(settings: Settings, *, as_json: bool) -> int:
    """Exit code 1 if a model is damaged."""
    statuses = verify(settings.models)
    _print(statuses, as_json=as_json)
    return int(any(status.state is ModelState.DAMAGED for status in statuses))


def models_fetch(settings: Settings, name: str, *, accept_licence: bool, as_json: bool) -> int:
    path = fetch_with_bar(settings, name, accept_licence=accept_licence)
    if as_json:
        print_json({"name": name, "path": str(path)})
    else:
        sys.stdout.write(f"{path}\n")
    return 0


def _print(statuses: list[ModelStatus], *, as_json: bool) -> None:
    if as_json:
        print_json({"models": [_as_dict(status) for status in statuses]})
        return
    for status in statuses:
        sys.stdout.write(f"{status.model.name:32} {status.state:12} {status.model.licence}\n")
        if status.problem:
            sys.stdout.write(f"{'':32} {status.problem}\n")


def _as_dict(status: ModelStatus) -> dict[str, Any]:
    return {
        "name": status.model.name,
        "state": str(status.state),
        "licence": status.model.licence,
        "path": str(status.path),
        "problem": status.problem or None,
    }
