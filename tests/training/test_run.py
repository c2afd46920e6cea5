from __future__ import annotations

import json
import math
from dataclasses import asdict, replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from attnvat.errors import UserError
from attnvat.techniques.technique import StepLoss
from attnvat.training import Config, load_data, open_run
from attnvat.training.counters import Counters
from attnvat.training.losses import parts
from attnvat.training.run import append_line, begin_folder, best_weights, cut_lines, locked, read_lines
from generated_task import SMALL, small, write_csv, write_task


def test_lines_are_added_counted_cut_and_read(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    assert read_lines(path) == []
    size = append_line(path, {"text": "ä\u2028b"})
    assert size == path.stat().st_size
    append_line(path, {"n": 2})
    assert read_lines(path) == [{"text": "ä\u2028b"}, {"n": 2}]
    with path.open("a") as handle:
        handle.write('{"n": 3')
    assert len(read_lines(path)) == 2
    cut_lines(path, size)
    assert read_lines(path) == [{"text": "ä\u2028b"}]
    cut_lines(path, size + 100)
    assert path.stat().st_size == size
    cut_lines(tmp_path / "absent", 0)
    path.write_text("{\n{}\n")
    with pytest.raises(UserError, match=r"metrics\.jsonl: damaged"):
        read_lines(path)


def test_a_run_is_opened_with_its_config_and_an_other_folder_refused(tmp_path: Path) -> None:
    begin_folder(tmp_path / "run", small(seed=5), 1000)
    run = open_run(str(tmp_path / "run"))
    assert run.config == small(seed=5)
    assert (run.result, run.history) == (None, [])
    with pytest.raises(UserError, match="no model here"):
        _ = run.pretrained
    with pytest.raises(UserError, match=r"not a run \(no config.yaml\)"):
        open_run(tmp_path)


def test_a_run_reads_its_corpus_again_or_another_one_the_same_way(tmp_path: Path) -> None:
    config = Config(**SMALL, **write_task(tmp_path, size=40), text="text", label="label")
    begin_folder(tmp_path / "run", config, 1000)
    run = open_run(tmp_path / "run")
    corpus = run.corpus()
    assert [e.text for e in corpus.train] == [e.text for e in load_data(config).train]
    other = write_csv(tmp_path / "other.csv", [*corpus.train, *corpus.test])
    assert run.corpus(str(other)).name == "other.csv"
    with pytest.raises(UserError, match="no data named"):
        load_data(replace(config, data=""))


def test_the_lock_is_given_back(tmp_path: Path) -> None:
    with locked(tmp_path), pytest.raises(UserError, match="another process"), locked(tmp_path):
        pass
    with locked(tmp_path):
        pass
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match="cannot be written"), locked(tmp_path / "file"):
        pass


def test_reading_the_best_weights_draws_no_random_numbers(tmp_path: Path) -> None:
    save_file({"w": torch.ones(3)}, tmp_path / "model.safetensors")
    before = torch.get_rng_state()
    assert best_weights(tmp_path)["w"].equal(torch.ones(3))
    assert torch.get_rng_state().equal(before)
    (tmp_path / "model.safetensors").write_bytes(b"")
    with pytest.raises(UserError, match="the best model so far cannot be read"):
        best_weights(tmp_path)


def test_counters_survive_json_and_know_when_to_save_and_stop() -> None:
    counters = Counters()
    assert counters.add({"loss": 1.0, "vanished": 2.0}) == {"loss": 1.0, "vanished": 2.0}
    assert counters.add({"loss": 2.0, "vanished": 1.0}) == {"loss": 1.5, "vanished": 3.0}
    again = Counters(**json.loads(json.dumps(asdict(counters))))
    assert again == counters
    assert again.best_score == -math.inf
    due = [step for step in range(1, 13) if Counters(step=step).passed(5, 1)]
    assert due == [5, 10]
    assert [step for step in range(3, 13, 3) if Counters(step=step).passed(5, 3)] == [6, 12]
    assert not any(Counters(step=step).passed(0, 1) for step in range(12))
    config = small(epochs=3, patience=2)
    assert [Counters(epoch=epoch).finished(config) for epoch in (0, 2, 3)] == [False, False, True]
    assert Counters(epoch=2, epochs_without_gain=2).finished(config)


def test_parts_of_a_loss_are_its_numbers() -> None:
    values = [torch.tensor(x) for x in (1.5, 1.0, 0.5, 0.25, 3.0, 0.125)]
    found = parts(StepLoss(*values))
    assert found == {"loss": 1.5, "clean": 1.0, "adversarial": 0.5, "norm": 0.25, "vanished": 3.0, "context": 0.125}
