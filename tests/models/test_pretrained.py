"""Saving and loading: the same numbers back, and damage named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from attnvat.errors import UserError
from attnvat.models import Pretrained, from_pretrained, save_pretrained
from attnvat.text.tokenizer import Tokenizer
from attnvat.text.vocabulary import Vocabulary
from batches import VOCABULARY, make_batch, make_model


def saved(folder: Path, **options: object) -> Pretrained:
    model = make_model(dtype=torch.float32, **options)  # type: ignore[arg-type]
    vocabulary = Vocabulary(["<pad>", "<unk>", *(f"w{i}" for i in range(VOCABULARY - 2))])
    bundle = Pretrained(model, vocabulary, Tokenizer(lower=False), ("no", "yes", "maybe")[: model.config.classes])
    save_pretrained(bundle, folder)
    return bundle


@pytest.mark.parametrize(
    "options", [{}, {"classes": 3}, {"pair": True}, {"pair": True, "decoder": "joint"}, {"phrases": True}]
)
def test_round_trip(tmp_path: Path, options: dict[str, object]) -> None:
    bundle = saved(tmp_path, **options)
    back = from_pretrained(tmp_path)
    batch = make_batch([3, 5], bool(options.get("pair")))
    assert torch.equal(bundle.model(batch)[0], back.model(batch)[0])
    assert back.labels == bundle.labels
    assert back.tokenizer == bundle.tokenizer
    assert list(back.vocabulary.words) == list(bundle.vocabulary.words)
    assert back.model.config == bundle.model.config
    assert not back.model.training
    assert {p.name for p in tmp_path.iterdir()} == {"config.json", "model.safetensors", "vocabulary.json"}


def test_no_model_here(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no model here"):
        from_pretrained(tmp_path)


def test_truncated_weights_are_named(tmp_path: Path) -> None:
    saved(tmp_path)
    weights = tmp_path / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:100])
    with pytest.raises(UserError, match=r"model\.safetensors"):
        from_pretrained(tmp_path)


def test_missing_weights_are_named(tmp_path: Path) -> None:
    saved(tmp_path)
    (tmp_path / "model.safetensors").unlink()
    with pytest.raises(UserError, match=r"model\.safetensors is missing"):
        from_pretrained(tmp_path)


def test_unknown_option_gets_the_nearest(tmp_path: Path) -> None:
    saved(tmp_path)
    path = tmp_path / "config.json"
    described = json.loads(path.read_text())
    described["model"]["hiden"] = described["model"].pop("hidden")
    path.write_text(json.dumps(described))
    with pytest.raises(UserError, match="did you mean 'hidden'"):
        from_pretrained(tmp_path)


def test_foreign_vocabulary_is_refused(tmp_path: Path) -> None:
    saved(tmp_path)
    Vocabulary(["<pad>", "<unk>", "one"]).save(tmp_path / "vocabulary.json")
    with pytest.raises(UserError, match="3 words"):
        from_pretrained(tmp_path)
