"""Runs killed with SIGKILL at random moments and resumed, against the same runs left alone: byte for byte the same?

    python benchmarks/resume.py [--check] [--quick] [--kills N] [--seed N]

Every run is the command `attnvat train` in a process of its own, on a small generated task, with a checkpoint at every
step, so that about every other kill lands within the writing of one: half of the kills wait for a file that is being
written, the other half come at any time, from the start of the process on.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from goals import Goals

RECORD = ("model.safetensors", "metrics.jsonl", "result.json", "vocabulary.json", "config.yaml")
OPTIONS = {
    "hidden": 16,
    "dimension": 8,
    "attention": 8,
    "epochs": 4,
    "patience": 4,
    "learning_rate": 0.02,
    "batch_size": 16,
    "dropout": 0.2,
    "checkpoint_every": 1,
    "device": "cpu",
}
RUNS: dict[str, dict[str, object]] = {
    "vanilla": {"technique": "vanilla", "gradient_accumulation": 2, "clip": 1.0},
    "word-at": {"technique": "word-at"},
    "word-ivat": {"technique": "word-ivat", "unlabeled": "more.txt"},
    "attention-vat": {"technique": "attention-vat", "unlabeled": "more.txt", "embedding_updates": "all"},
    "attention-ivat": {"technique": "attention-ivat", "unlabeled": "more.txt"},
}
KILLS_GOAL, TECHNIQUES_GOAL = 20, 4


@dataclass
class Outcome:
    """What happened to the runs of one technique."""

    kills: int = 0
    while_writing: int = 0
    """Kills that left a half-written file behind."""
    before_first: int = 0
    """Kills before the first checkpoint."""
    differing: set[str] = field(default_factory=set)
    """Files of a killed run that are not those of the one left alone."""


def generate(folder: Path, seed: int) -> None:
    """A labelled file and an unlabelled one; the label is that of one telling word in each text."""
    chance = random.Random(seed)
    telling = {"neg": ["bad", "awful", "poor"], "pos": ["good", "great", "fine"]}
    neutral = [f"n{first}{second}" for first in "abcdef" for second in "abcdefghij"]

    def text(label: str) -> str:
        words = [*chance.choices(neutral, k=chance.randint(3, 10)), chance.choice(telling[label])]
        chance.shuffle(words)
        return " ".join(words)

    rows = {text(label): label for label in chance.choices(["neg", "pos"], k=320)}
    (folder / "train.csv").write_text("text,label\n" + "".join(f"{t},{y}\n" for t, y in rows.items()), "utf-8")
    more = [text(chance.choice(["neg", "pos"])) for _ in range(400)]
    (folder / "more.txt").write_text("\n".join(more), "utf-8")


def start(folder: Path, arguments: list[str]) -> subprocess.Popen[bytes]:
    """The command, quiet, on one thread."""
    command = [sys.executable, "-m", "attnvat.cli.main", "train", *arguments]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    with (folder / "log").open("ab") as log:
        return subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log)


def finish(folder: Path, arguments: list[str]) -> None:
    """The command, run to its end."""
    if start(folder, arguments).wait() != 0:
        sys.exit(f"attnvat train {' '.join(arguments)} failed:\n{(folder / 'log').read_text()[-2000:]}")


def last_step(run: Path) -> int:
    """The step of the newest checkpoint."""
    return max((int(path.stem.removeprefix("step-")) for path in run.glob("checkpoints/step-*")), default=0)


def kill(process: subprocess.Popen[bytes], run: Path, chance: random.Random, startup: float) -> None:
    """SIGKILL within a write, or at any time; a process that ends before is left to end."""
    writing = chance.random() < 0.5
    target = last_step(run) + chance.randint(1, 10)
    moment = time.monotonic() + chance.uniform(0.2, 0.9) * startup

    def due() -> bool:
        if not writing:
            return time.monotonic() >= moment
        return last_step(run) >= target and any(run.glob("checkpoints/.*.part"))

    wait(process, due)
    process.kill()
    process.wait()


def wait(process: subprocess.Popen[bytes], due: Callable[[], bool]) -> None:
    """Until it is due, or the process has ended."""
    while process.poll() is None and not due():
        time.sleep(0.0005)


def torture(folder: Path, name: str, kills: int, chance: random.Random) -> Outcome:
    """Run one technique whole, and again with kills."""
    flags = [
        part
        for option, value in {"data": "train.csv", **OPTIONS, **RUNS[name]}.items()
        for part in (f"--{option.replace('_', '-')}", str(value))
    ]
    began = time.monotonic()
    finish(folder, [*flags, "--out", f"{name}-whole"])
    startup = time.monotonic() - began
    outcome = Outcome()
    for number in range(3 * kills):
        # A run that ended before it was killed often enough is compared, and another one begun.
        run = folder / f"{name}-killed-{number}"
        kill_and_resume(folder, run, flags, kills, chance, startup, outcome)
        for file in RECORD:
            if (run / file).read_bytes() != (folder / f"{name}-whole" / file).read_bytes():
                outcome.differing.add(file)
        if outcome.kills >= kills:
            break
    return outcome


def kill_and_resume(
    folder: Path, run: Path, flags: list[str], kills: int, chance: random.Random, startup: float, outcome: Outcome
) -> None:
    """One run to its end, killed on the way until there were enough kills in all."""
    while not (run / "result.json").exists():
        begun = (run / "config.yaml").exists()
        arguments = ["--resume", run.name] if begun else [*flags, "--out", run.name]
        if outcome.kills >= kills:
            finish(folder, arguments)
            continue
        process = start(folder, arguments)
        kill(process, run, chance, startup)
        if process.returncode == -9:
            outcome.kills += 1
            outcome.while_writing += bool(list(run.glob("**/.*.part")))
            outcome.before_first += last_step(run) == 0
        elif process.returncode != 0:
            sys.exit(f"a resumed run failed:\n{(folder / 'log').read_text()[-2000:]}")


def main() -> None:
    """Kill, resume, compare, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="exit 1 if a run ends differently or too few were killed")
    parser.add_argument("--quick", action="store_true", help="one technique, two kills")
    parser.add_argument("--kills", type=int, default=5, help="kills a technique (5)")
    parser.add_argument("--seed", type=int, default=0, help="of the data and of the moments (0)")
    options = parser.parse_args()
    names = ["word-ivat"] if options.quick else list(RUNS)
    goals, chance, found = Goals(), random.Random(options.seed), {}
    print("| technique | kills | of them within a write | before the first checkpoint | same bytes |")
    print("|---|---:|---:|---:|---|")
    for name in names:
        with tempfile.TemporaryDirectory() as temporary:
            generate(Path(temporary), options.seed)
            outcome = torture(Path(temporary), name, 2 if options.quick else options.kills, chance)
        found[name] = outcome
        semi = " (semi-supervised)" if "unlabeled" in RUNS[name] else ""
        same = f"**no**: {', '.join(sorted(outcome.differing))}" if outcome.differing else "yes"
        cells = [f"{name}{semi}", outcome.kills, outcome.while_writing, outcome.before_first, same]
        print(f"| {' | '.join(map(str, cells))} |", flush=True)
        goals.at_most(f"{name}: files that differ", len(outcome.differing), 0)
    if not options.quick:
        goals.at_least("kills", sum(outcome.kills for outcome in found.values()), KILLS_GOAL)
        goals.at_least("kills within a write", sum(outcome.while_writing for outcome in found.values()), 1)
        goals.at_least("techniques", len(found), TECHNIQUES_GOAL)
    goals.finish(options.check)


if __name__ == "__main__":
    main()
