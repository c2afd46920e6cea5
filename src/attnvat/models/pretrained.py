"""A trained model on disk: `config.json`, `model.safetensors`, `vocabulary.json`. No pickle."""

from __future__ import annotations

import dataclasses
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save

from attnvat.errors import UserError, nearest
from attnvat.models.classifiers import SequenceClassifier, build_model
from attnvat.models.config import ModelConfig
from attnvat.storage import atomic_write, read_json, write_json
from attnvat.text.tokenizer import Tokenizer
from attnvat.text.vocabulary import Vocabulary

CONFIG, WEIGHTS, VOCABULARY = "config.json", "model.safetensors", "vocabulary.json"


@dataclass(frozen=True)
class Pretrained:
    """A model with all that is needed to read text with it."""

    model: SequenceClassifier
    vocabulary: Vocabulary
    tokenizer: Tokenizer
    labels: tuple[str, ...]


def save_pretrained(bundle: Pretrained, folder: Path | str) -> None:
    """Write the model, its vocabulary, its tokenizer's options and its labels into `folder`."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    bundle.vocabulary.save(folder / VOCABULARY)
    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in bundle.model.state_dict().items()}
    with atomic_write(folder / WEIGHTS, "wb") as handle:
        handle.write(save(tensors))
    described = {
        "model": asdict(bundle.model.config),
        "tokenizer": bundle.tokenizer.to_dict(),
        "labels": list(bundle.labels),
    }
    write_json(folder / CONFIG, described)


def from_pretrained(folder: Path | str, device: torch.device | str = "cpu") -> Pretrained:
    """The model saved in `folder`, in evaluation mode; damaged or mismatched files are named."""
    folder = Path(folder)
    if not (folder / CONFIG).exists():
        raise UserError(f"{folder}: no model here (no {CONFIG}); name a folder written by save_pretrained or a run")
    described = read_json(folder / CONFIG)
    known = {field.name for field in dataclasses.fields(ModelConfig)}
    for section in ("model", "tokenizer", "labels"):
        if section not in described:
            raise UserError(f"{folder / CONFIG}: has no {section!r}; the file is damaged or not attnvat's")
    for key in described["model"]:
        if key not in known:
            raise UserError(f"{folder / CONFIG}: unknown model option {key!r}; {nearest(key, known)}")
    model = build_model(ModelConfig(**described["model"]))
    try:
        model.load_state_dict(load_file(folder / WEIGHTS, device="cpu"))
    except FileNotFoundError as error:
        raise UserError(f"{folder}: {WEIGHTS} is missing") from error
    except (SafetensorError, RuntimeError) as error:
        reason = str(error).splitlines()[0]
        raise UserError(f"{folder / WEIGHTS}: does not fit {CONFIG} or is damaged ({reason})") from error
    vocabulary = Vocabulary.load(folder / VOCABULARY)
    if len(vocabulary) != model.config.vocabulary:
        raise UserError(f"{folder}: {VOCABULARY} has {len(vocabulary)} words, the model {model.config.vocabulary}")
    labels = tuple(described["labels"])
    return Pretrained(model.to(device).eval(), vocabulary, Tokenizer.from_dict(described["tokenizer"]), labels)
