"""Where a run stands."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from attnvat.training.config import Config


@dataclass
class Counters:
    """Where a run stands, as JSON can hold it."""

    step: int = 0
    epoch: int = 0
    best_score: float = -math.inf
    best_epoch: int = -1
    epochs_without_gain: int = 0
    sums: dict[str, float] = field(default_factory=dict)
    """Losses by part, summed over the steps of the current epoch."""
    metrics_size: int = 0
    """Size of `metrics.jsonl` in bytes at this point."""

    def add(self, losses: dict[str, float]) -> dict[str, float]:
        """Count a step's losses; gives the means over the epoch so far (vanished gradients are a total)."""
        self.step += 1
        for name, value in (losses | {"steps": 1}).items():
            self.sums[name] = self.sums.get(name, 0) + value
        steps = self.sums["steps"]
        return {
            name: total if name == "vanished" else total / steps for name, total in self.sums.items() if name != "steps"
        }

    def judge(self, score: float) -> bool:
        """Take in the validation score of the current epoch; whether it is the best so far."""
        better = score > self.best_score
        if better:
            self.best_score, self.best_epoch = score, self.epoch
        self.epochs_without_gain = 0 if better else self.epochs_without_gain + 1
        return better

    def passed(self, interval: int, steps: int) -> bool:
        """Whether a multiple of `interval` lies within the last `steps` steps; never for interval 0."""
        return interval > 0 and self.step // interval > (self.step - steps) // interval

    def finished(self, config: Config) -> bool:
        """Whether no epoch is left, or the last ones brought nothing."""
        return self.epoch >= config.epochs or self.epochs_without_gain >= config.patience
