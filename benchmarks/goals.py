"""Goals of a benchmark: figures that must be reached, and an exit code that says whether they were."""

from __future__ import annotations

import sys


class Goals:
    """Collects the figures that have a goal."""

    def __init__(self) -> None:
        self.missed: list[str] = []

    def at_most(self, what: str, value: float, goal: float) -> str:
        """`value` should not be above `goal`; whether that is so, for a table."""
        return self._note(value <= goal, f"{what}: {value:.3g}, the goal is at most {goal:g}")

    def at_least(self, what: str, value: float, goal: float) -> str:
        """`value` should not be below `goal`; whether that is so, for a table."""
        return self._note(value >= goal, f"{what}: {value:.3g}, the goal is at least {goal:g}")

    def _note(self, reached: bool, otherwise: str) -> str:
        if not reached:
            self.missed.append(otherwise)
        return "yes" if reached else "**no**"

    def finish(self, check: bool) -> None:
        """Say which goals were missed; with `check`, exit 1 if any was."""
        print(
            "\nAll goals reached."
            if not self.missed
            else "\nMissed:\n" + "\n".join(f"- {line}" for line in self.missed)
        )
        if check and self.missed:
            sys.exit(1)
