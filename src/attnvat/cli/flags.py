"""A flag for every option of the config, so that flags and config cannot drift apart."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import types
import typing
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from attnvat.training.config import Config, from_dict, hints, read_options

ConfigFile = Annotated[Path | None, typer.Option("--config", help="YAML file; flags win over it.")]


def with_flags(command: Callable[..., None], without: Collection[str] = ()) -> Callable[..., None]:
    """A command that takes `**flags`, with its own parameters and a flag for every option but those in `without`."""
    own = [
        parameter.replace(annotation=kind, kind=inspect.Parameter.KEYWORD_ONLY)
        for name, parameter in inspect.signature(command).parameters.items()
        if (kind := typing.get_type_hints(command, include_extras=True)[name])
        and parameter.kind is not inspect.Parameter.VAR_KEYWORD
    ]
    for field in dataclasses.fields(Config):
        if field.name not in without:
            kind = Annotated[plain_type(hints()[field.name]) | None, flag(field)]
            own.append(inspect.Parameter(field.name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind))

    # A function of its own: the command must be as it was when it is registered again.
    @functools.wraps(command)
    def flagged(**given: Any) -> None:
        command(**given)

    flagged.__signature__ = inspect.Signature(own)  # type: ignore[attr-defined]
    flagged.__annotations__ = {parameter.name: parameter.annotation for parameter in own}
    return flagged


def flag(field: dataclasses.Field[Any]) -> Any:
    """The flag of one option, with its help text and default."""
    name = field.name.replace("_", "-")
    names = [f"--{name}/--no-{name}"] if plain_type(hints()[field.name]) is bool else [f"--{name}"]
    default = "" if field.default in (None, "") else f" [default: {field.default}]"
    return typer.Option(*names, help=field.metadata["help"] + default, rich_help_panel=field.metadata["section"])


def plain_type(hint: Any) -> Any:
    """The one type a flag has: a choice is text (and checked by the config), an optional value its value's type."""
    if typing.get_origin(hint) is Literal:
        return str
    if isinstance(hint, types.UnionType):
        return next(kind for kind in typing.get_args(hint) if kind is not type(None))
    return hint


def chosen_config(file: Path | None, flags: dict[str, Any]) -> Config:
    """The config of a file with the flags that were given on top of it."""
    given = {name: value for name, value in flags.items() if value is not None}
    return from_dict((read_options(file) if file else {}) | given, str(file or "command line"))
