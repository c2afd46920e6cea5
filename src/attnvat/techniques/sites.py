"""Where a perturbation is added: to the word vectors or to the attention scores (DESIGN: embed → encode → decode)."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from torch import Tensor

from attnvat.models.contract import AttentionModel, States
from attnvat.text.batch import Batch


class Pass(NamedTuple):
    """One clean pass of a batch, kept so that nothing of it is computed twice."""

    vectors: Tensor
    states: States
    scores: Tensor
    logits: Tensor

    def detach(self) -> Pass:
        """The same numbers, cut from the graph: for finding a perturbation without touching any parameter."""
        return Pass(self.vectors.detach(), self.states.detach(), self.scores.detach(), self.logits.detach())


def clean_pass(model: AttentionModel, batch: Batch) -> Pass:
    """The unperturbed pass of a batch."""
    return pass_of(model, model.embed(batch), batch)


def pass_of(model: AttentionModel, vectors: Tensor, batch: Batch) -> Pass:
    """The pass of these word vectors (B, T, d), the batch's own or others in their place."""
    states, scores = model.encode(vectors, batch)
    return Pass(vectors, states, scores, model.decode(states, scores, batch))


class Site(Protocol):
    """A place in the model that can be perturbed."""

    name: str

    def value(self, clean: Pass) -> Tensor:
        """What the perturbation is added to: (B, T) or (B, T, d)."""
        ...

    def mask(self, batch: Batch) -> Tensor:
        """True where the perturbation may differ from zero, of the value's shape up to broadcasting."""
        ...

    def ids(self, batch: Batch) -> Tensor:
        """The ids of the words the perturbation touches (B, T)."""
        ...

    def perturbed(self, model: AttentionModel, clean: Pass, r: Tensor, batch: Batch) -> Tensor:
        """Logits with r added at this site."""
        ...


class WordSite:
    """Perturbs word vectors: the encoder and the decoder run again."""

    name = "word"

    def value(self, clean: Pass) -> Tensor:
        """Word vectors (B, T, d)."""
        return clean.vectors

    def mask(self, batch: Batch) -> Tensor:
        """Real words of the text and its question (B, T, 1)."""
        return batch.word_mask[:, :, None]

    def ids(self, batch: Batch) -> Tensor:
        """Ids of the text's and the question's words (B, T)."""
        return batch.word_ids

    def perturbed(self, model: AttentionModel, clean: Pass, r: Tensor, batch: Batch) -> Tensor:
        """Logits of the words moved by r."""
        return pass_of(model, clean.vectors + r, batch).logits


class AttentionSite:
    """Perturbs attention scores: only the decoder runs again."""

    name = "attention"

    def value(self, clean: Pass) -> Tensor:
        """Pre-softmax attention scores (B, T)."""
        return clean.scores

    def mask(self, batch: Batch) -> Tensor:
        """Real words of the attended text (B, T)."""
        return batch.mask

    def ids(self, batch: Batch) -> Tensor:
        """Ids of the attended text's words (B, T)."""
        return batch.ids

    def perturbed(self, model: AttentionModel, clean: Pass, r: Tensor, batch: Batch) -> Tensor:
        """Logits of the attention moved by r."""
        return model.decode(clean.states, clean.scores + r, batch)
