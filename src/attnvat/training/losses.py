"""A step's losses as numbers, over all processes, and the stop where they are none."""

from __future__ import annotations

import math
from pathlib import Path

import torch
from accelerate import Accelerator

from attnvat.errors import UserError
from attnvat.techniques import StepLoss
from attnvat.text.batch import Batch
from attnvat.training.checkpoint import checkpoint_files
from attnvat.training.config import Config

PARTS = ("loss", "clean", "adversarial", "norm", "vanished", "context")


def parts(loss: StepLoss, accelerator: Accelerator | None = None) -> dict[str, float]:
    """The parts of a step's loss: means over the whole batch, however many processes share it."""
    shown = [loss.total.detach(), loss.clean, loss.adversarial, loss.norm, loss.vanished, loss.context]
    values = torch.stack(shown).double()
    if accelerator and accelerator.num_processes > 1:
        values = accelerator.reduce(values, reduction="mean")
        values[PARTS.index("vanished")] *= accelerator.num_processes
    return dict(zip(PARTS, values.tolist(), strict=True))


def refuse_non_finite(
    losses: dict[str, float],
    labelled: Batch,
    unlabelled: Batch | None,
    config: Config,
    step: int,
    checkpoints: Path | None,
) -> None:
    """Stop at a loss that is not a number, naming the batch, the technique and the last good checkpoint."""
    if math.isfinite(losses["loss"]):
        return
    files = checkpoint_files(checkpoints) if checkpoints else []
    more = f" and unlabelled rows {rows_of(unlabelled)}" if unlabelled else ""
    raise UserError(
        f"the loss is {losses['loss']} (clean {losses['clean']}, adversarial {losses['adversarial']}) at step "
        f"{step} with {config.technique} (epsilon {config.epsilon}); training rows {rows_of(labelled)}{more}; "
        f"last good checkpoint: {files[-1] if files else 'none'}. Try a lower learning_rate or epsilon, or set clip"
    )


def rows_of(batch: Batch) -> str:
    """The first rows of a batch, for a message."""
    rows = [] if batch.rows is None else batch.rows.tolist()
    return ", ".join(map(str, rows[:8])) + (", …" if len(rows) > 8 else "")
