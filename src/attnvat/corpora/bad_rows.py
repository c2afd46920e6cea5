"""Rows of people's files that cannot be used: all listed with file and line, then either a stop or a count."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from attnvat.errors import UserError

SHOWN = 5


@dataclass
class BadRows:
    """Collects what is wrong with rows while files are read; `settle` decides what becomes of it."""

    skip: bool = False
    """Go on without the bad rows."""
    at_once: bool = False
    """Stop at the first bad row: for streams, which nobody reads to the end before using them."""
    first: list[str] = field(default_factory=list)
    kinds: Counter[str] = field(default_factory=Counter)

    def add(self, where: str, kind: str, detail: str = "") -> None:
        """Note that the row at `where` cannot be used: `kind` is counted, `detail` shown."""
        message = f"{where}: {kind}{f' ({detail})' if detail else ''}"
        if self.at_once and not self.skip:
            raise UserError(f"{message}; put it right, or go on without such rows with --skip-bad")
        self.kinds[kind] += 1
        if len(self.first) < SHOWN:
            self.first.append(message)

    def settle(self) -> list[str]:
        """Notes on the rows left out, for `skip`; otherwise an error listing the first of them, if there are any."""
        total = self.kinds.total()
        if not total:
            return []
        counts = ", ".join(f"{count:,} {kind}" for kind, count in self.kinds.most_common())
        if self.skip:
            return [f"{total:,} bad row{'s' * (total > 1)} left out ({counts}); the first: {self.first[0]}"]
        more = [f"… and {total - len(self.first):,} more ({counts})"] if total > len(self.first) else []
        listed = "\n  ".join([*self.first, *more])
        remedy = "put them right, or go on without them with --skip-bad"
        raise UserError(f"{total:,} bad row{'s' * (total > 1)}:\n  {listed}\n{remedy}")
