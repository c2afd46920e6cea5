"""Two processes with half a batch each train as one process with the whole batch does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from attnvat_process import run
from generated_task import SMALL, flags, write_task


@pytest.mark.parametrize("technique", ["attention-ivat", "word-vat"])
def test_the_loss_curve_is_that_of_twice_the_batch(technique: str, tmp_path: Path) -> None:
    # 128 texts in batches of 2 × 16: every batch is whole, so that both processes get the same share.
    files = write_task(tmp_path, size=128, unlabelled=256)
    options = {**SMALL, **files, "technique": technique, "unlabeled": tmp_path / "more.txt", "epochs": 3, "patience": 3}
    options["dropout"] = 0  # each process has masks of its own
    log = tmp_path / "log"
    assert run(["train", *flags(**{**options, "batch_size": 32, "out": tmp_path / "one"})], log) == 0, log.read_text()
    # `--multi_gpu` makes Accelerate start two processes (`--cpu` wants MPI for that); `--device cpu` then means gloo.
    launched = subprocess.run(
        [
            *(sys.executable, "-m", "accelerate.commands.launch", "--multi_gpu", "--num_processes", "2"),
            *("--num_machines", "1", "--mixed_precision", "no", "--dynamo_backend", "no", "--main_process_port", "0"),
            *("--num_cpu_threads_per_process", "1", "--module", "attnvat.cli.main"),
            *("train", *flags(**{**options, "batch_size": 16, "out": tmp_path / "two"})),
        ],
        capture_output=True,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        timeout=300,
        check=False,
    )
    assert launched.returncode == 0, launched.stderr
    one, two = (
        [json.loads(line) for line in (tmp_path / name / "metrics.jsonl").read_text().splitlines()]
        for name in ("one", "two")
    )
    assert len(one) == len(two) == 3
    for part in ("loss", "clean", "adversarial", "norm"):
        curves = [[line["losses"][part] for line in lines] for lines in (one, two)]
        np.testing.assert_allclose(curves[1], curves[0], rtol=1e-4 if part != "adversarial" else 1e-2)
    assert [line["step"] for line in one] == [line["step"] for line in two] == [4, 8, 12]
    assert [line["validation"] for line in two] == pytest.approx([line["validation"] for line in one], abs=0.04)
    # Only the main process writes and speaks.
    assert launched.stdout.count("next: attnvat evaluate") == 1
    assert launched.stderr.count("epoch 1:") == 1
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_dir()) == ["one", "two"]
