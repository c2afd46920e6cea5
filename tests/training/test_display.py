from __future__ import annotations

import io

import pytest
from rich.console import Console

from attnvat import progress as progress_module
from attnvat.progress import progress
from attnvat.training import display as display_module
from attnvat.training.display import Live, Plain, Silent, Speed, display_for_terminal, summary

LINE = {"epoch": 1, "metric": "f1", "validation": 0.8125, "best": True, "losses": {"loss": 0.5, "vanished": 0.0}}


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """What a terminal would get."""
    shown = io.StringIO()
    console = Console(file=shown, force_terminal=True, width=160)
    monkeypatch.setattr(display_module, "stderr", console)
    monkeypatch.setattr(progress_module, "stderr", console)
    return shown


def test_plain_lines_say_what_happened_and_no_more(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = display_for_terminal()
    assert type(found) is Plain
    found.note("a note with [brackets] and a very long line " + "x" * 300)
    found.begin_epoch(1, 0, 3, 2)
    found.step(10, 100, {"loss": 0.7})
    monkeypatch.setattr(Plain, "interval", 0.0)
    found.step(10, 100, {"loss": 0.6})
    found.end_epoch(LINE)
    found.close()
    out, err = capsys.readouterr()
    note, step, epoch = err.splitlines()
    assert out == ""
    assert "[brackets]" in note
    assert step.startswith("epoch 2, step 2/3: loss 0.6, ")
    assert epoch.startswith("epoch 2: validation f1 81.25 (best so far), loss 0.5, ")
    assert "vanished" not in epoch  # no sentence lost its gradient
    lost = summary(LINE | {"losses": {"loss": 0.0, "adversarial": 0.0, "norm": 0.5, "vanished": 2.0}})
    assert lost.endswith(", loss 0, norm 0.5, vanished 2")
    assert "tokens/s" in epoch


def test_the_live_display_leaves_the_terminal_to_other_bars_until_training_starts(terminal: io.StringIO) -> None:
    live = display_for_terminal()
    assert isinstance(live, Live)
    with progress("reading", 2) as advance:
        advance(2)
    assert "training" not in terminal.getvalue()
    live.note("read")
    live.begin_epoch(0, 0, 2, 4)
    for _ in range(2):
        live.step(16, 200, {"loss": 0.25})
    live.end_epoch(LINE)
    live.close()
    live.close()
    shown = terminal.getvalue()
    assert "reading" in shown
    assert "epoch 1/5" in shown
    assert "2/2" in shown
    assert "loss 0.25" in shown
    assert "validation f1 81.25" in shown


def test_speed_counts_the_time_of_training_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    now = iter([0.0, 2.0, 4.0])
    monkeypatch.setattr(display_module.time, "monotonic", lambda: next(now))
    speed = Speed()
    speed.add(10, 100)
    speed.add(30, 300)
    assert str(speed) == "10 examples/s, 100 tokens/s"
    assert str(speed) == "10 examples/s, 100 tokens/s"


def test_silence_is_silent(capsys: pytest.CaptureFixture[str]) -> None:
    silent = Silent()
    silent.note("x")
    silent.begin_epoch(0, 0, 1, 0)
    silent.step(1, 1, {})
    silent.end_epoch(LINE)
    silent.close()
    assert capsys.readouterr() == ("", "")


def test_a_worse_epoch_is_not_called_the_best() -> None:
    assert "best" not in summary({**LINE, "best": False})
