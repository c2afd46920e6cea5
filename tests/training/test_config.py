from __future__ import annotations

import dataclasses
import inspect
from pathlib import Path
from typing import Any

import pytest
import yaml

from attnvat.cli.flags import with_flags
from attnvat.cli.train import train
from attnvat.errors import UserError
from attnvat.techniques import TECHNIQUES, options_of
from attnvat.training import Config, load_config, template
from attnvat.training.config import from_dict, hints

OTHER: dict[str, Any] = {
    "data": "größe: #1.csv",
    "data_dir": "no",
    "validation": "v.csv",
    "test": "t.csv",
    "text": "on",
    "text_pair": "123",
    "label": "1e5",
    "skip_bad": True,
    "labeled_size": 7,
    "validation_size": 8,
    "metric": "micro-f1",
    "unlabeled": "pool:near-100",
    "unlabeled_size": 9,
    "unlabeled_ratio": 1.5,
    "lower": False,
    "numbers": False,
    "min_frequency": 2,
    "max_vocabulary": 500,
    "max_length": 40,
    "pool_words": False,
    "vector_words": 70,
    "phrases": 80,
    "average": 0.9,
    "calibrate": True,
    "vectors": "glove.6B.100d",
    "language_model": "runs/language",
    "start": "runs/first",
    "dimension": 33,
    "hidden": 18,
    "attention": 11,
    "decoder": "joint",
    "dropout": 0.25,
    "technique": "attention-ivat",
    "epsilon": 1.5,
    "xi": 0.01,
    "iterations": 2,
    "weight": 0.5,
    "reading": "shared",
    "teacher": "runs/a,runs/b",
    "context_penalty": 0.1,
    "word_epsilon": 0.2,
    "batch_size": 5,
    "learning_rate": 1e-5,
    "l2": 0.0,
    "embedding_updates": "all",
    "clip": 5.0,
    "epochs": 4,
    "patience": 1,
    "gradient_accumulation": 3,
    "seed": 11,
    "checkpoint_every": 0,
    "keep": 1,
    "device": "cpu",
    "mixed_precision": "bf16",
    "track": "tensorboard",
}
"""Another value than the default for every option but `neighbours`, which goes with another technique."""
FIELDS = [field.name for field in dataclasses.fields(Config)]


def test_every_option_is_tried_here() -> None:
    assert set(OTHER) | {"neighbours"} == set(FIELDS)
    assert not [field.name for field in dataclasses.fields(Config) if OTHER.get(field.name, 3) == field.default]


@pytest.mark.parametrize("config", [Config(), Config(**OTHER), Config(technique="word-ivat", neighbours=3)], ids=str)
def test_saved_config_loads_as_itself(config: Config, tmp_path: Path) -> None:
    config.save(tmp_path / "config.yaml")
    assert load_config(tmp_path / "config.yaml") == config
    assert from_dict(config.to_dict(), "here") == config


def test_template_holds_every_option_with_help_and_parses_to_the_defaults(tmp_path: Path) -> None:
    (tmp_path / "template.yaml").write_text(template(), "utf-8")
    assert load_config(tmp_path / "template.yaml") == Config()
    assert list(yaml.safe_load(template())) == FIELDS
    for field in dataclasses.fields(Config):
        assert f"# {field.metadata['help']}" in template()


def test_every_option_is_a_flag_of_train_and_gives_the_same_config(monkeypatch: pytest.MonkeyPatch) -> None:
    import typer
    from typer.testing import CliRunner

    given: list[dict[str, Any]] = []

    def command(**flags: Any) -> None:
        given.append({name: value for name, value in flags.items() if value is not None})

    app = typer.Typer()
    app.command()(with_flags(command))
    assert set(inspect.signature(with_flags(train)).parameters) == {"config", "out", "resume", *FIELDS}
    words = []
    for name, value in OTHER.items():
        flag = name.replace("_", "-")
        words += [f"--{flag}" if value else f"--no-{flag}"] if isinstance(value, bool) else [f"--{flag}", str(value)]
    assert CliRunner().invoke(app, words).exit_code == 0
    assert from_dict(given[-1], "flags") == Config(**OTHER)
    assert CliRunner().invoke(app, []).exit_code == 0
    assert from_dict(given[-1], "flags") == Config()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("epsilom: 0.5", "unknown option 'epsilom'; did you mean 'epsilon'?"),
        ("qqq: 1", "unknown option 'qqq'; known: attention, average"),
        ("1: 2", "unknown option 1; known"),
        ("epochs: ten", "epochs is 'ten'; expected int"),
        ("epochs: 1.5", "epochs is 1.5; expected int"),
        ("epochs: true", "epochs is True; expected int"),
        ("epochs: null", "epochs is None; expected int"),
        ("lower: 1", "lower is 1; expected bool"),
        ("dropout: much", "dropout is 'much'; expected float"),
        ("dropout: true", "dropout is True; expected float"),
        ("data: 5", "data is 5; expected str"),
        ("text: [a, b]", "text is ['a', 'b']; expected str"),
        ("decoder: jont", "decoder is 'jont'; expected paper or joint"),
        ("epochs: 0", "epochs is 0; it must be at least 1"),
        ("epsilon: -1\ntechnique: word-at", "epsilon is -1"),
        ("- epochs", "expected lines of `option: value`"),
        ("", "expected lines of `option: value`"),
        ("epochs: [1", "not valid YAML"),
    ],
)
def test_wrong_files_are_refused_with_the_file_named(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "run.yaml"
    path.write_text(text, "utf-8")
    with pytest.raises(UserError) as caught:
        load_config(path)
    assert said in str(caught.value)
    assert str(caught.value).startswith(f"{path}: ")


def test_missing_and_undecodable_files_are_named(tmp_path: Path) -> None:
    (tmp_path / "latin.yaml").write_bytes("data: größe.csv".encode("latin-1"))
    for name, said in (("none.yaml", "could not be read"), ("latin.yaml", "not valid YAML")):
        with pytest.raises(UserError, match=f"{name}: {said}"):
            load_config(tmp_path / name)


def test_numbers_written_the_short_way_are_numbers(tmp_path: Path) -> None:
    (tmp_path / "run.yaml").write_text("learning_rate: 1e-3\nl2: 0\n", "utf-8")
    config = load_config(tmp_path / "run.yaml")
    assert (config.learning_rate, config.l2) == (1e-3, 0.0)
    assert isinstance(config.l2, float)


@pytest.mark.parametrize(
    "wrong",
    [
        {"batch_size": 0},
        {"patience": 0},
        {"gradient_accumulation": 0},
        {"keep": 0},
        {"min_frequency": 0},
        {"labeled_size": 0},
        {"validation_size": 0},
        {"unlabeled_size": -1},
        {"unlabeled_ratio": 0.0},
        {"vectors": "learn:pool", "language_model": "runs/language"},
        {"vectors": "learn", "start": "runs/first"},
        {"max_vocabulary": 0},
        {"max_length": 0},
        {"dimension": 0},
        {"learning_rate": 0.0},
        {"learning_rate": float("nan")},
        {"clip": 0.0},
        {"l2": -1e-5},
        {"l2": float("nan")},
        {"checkpoint_every": -1},
        {"vectors": "v.txt", "vector_words": -1},
        {"seed": -1},
        {"seed": 2**32},
        {"hidden": 0},
        {"hidden": 17},
        {"attention": 0},
        {"dropout": 1.0},
        {"dropout": -0.1},
        {"decoder": "both"},
        {"embedding_updates": "none"},
        {"mixed_precision": "fp8"},
        {"metric": "acuracy"},
        {"technique": "word-at", "epsilon": -0.1},
        {"technique": "word-vat", "xi": 0.0},
        {"technique": "word-vat", "iterations": 0},
        {"technique": "word-iat", "neighbours": 0},
        {"technique": "attention-iat", "reading": "upside-down"},
    ],
    ids=str,
)
def test_impossible_values_are_refused_by_name(wrong: dict[str, Any]) -> None:
    with pytest.raises(UserError, match=list(wrong)[-1]):
        Config(**wrong)


@pytest.mark.parametrize("name", TECHNIQUES)
def test_a_technique_takes_its_options_and_no_other(name: str) -> None:
    values = {"epsilon": 0.3, "xi": 0.2, "iterations": 2, "weight": 2.0, "neighbours": 4, "reading": "shared"}
    values |= {"context_penalty": 0.1, "word_epsilon": 0.2}
    for option, value in values.items():
        if option in options_of(name):
            assert getattr(Config(technique=name, **{option: value}).resolved(), option) == value
        else:
            with pytest.raises(UserError, match=f"{name} takes no option '{option}'"):
                Config(technique=name, **{option: value})


@pytest.mark.parametrize("name", TECHNIQUES)
def test_only_virtual_techniques_take_unlabelled_text(name: str) -> None:
    if name.endswith("vat"):
        assert Config(technique=name, unlabeled="corpus").unlabeled == "corpus"
    else:
        with pytest.raises(UserError, match=f"{name} needs labels and cannot use unlabelled text"):
            Config(technique=name, unlabeled="corpus")


def test_unknown_technique_gets_the_nearest() -> None:
    with pytest.raises(UserError, match="did you mean 'attention-ivat'"):
        Config(technique="attention-ivt")


def test_resolved_config_writes_the_techniques_defaults_out_and_changes_nothing_else() -> None:
    config = Config(technique="attention-ivat", xi=0.3)
    resolved = config.resolved()
    assert (resolved.epsilon, resolved.xi, resolved.iterations, resolved.weight) == (0.5, 0.3, 1, 1.0)
    assert resolved.neighbours is None
    assert resolved.build_technique() is not None
    same = set(hints()) - set(options_of("attention-ivat"))
    assert {name: getattr(config, name) for name in same} == {name: getattr(resolved, name) for name in same}
    assert Config().resolved() == Config()
