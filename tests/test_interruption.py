from __future__ import annotations

import os
import signal
import threading

import pytest

from attnvat.interruption import sigterm_as_ctrl_c, stop_on_signal


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_signal_is_a_wish_and_the_second_is_heeded_at_once(number: signal.Signals) -> None:
    class HeededError(Exception):
        pass

    def heed(*_: object) -> None:
        raise HeededError

    before = signal.signal(number, heed)
    try:
        with stop_on_signal() as wish:
            assert not wish.made
            os.kill(os.getpid(), number)
            assert wish.made
            with pytest.raises(HeededError):
                os.kill(os.getpid(), number)
        assert signal.getsignal(number) is heed
    finally:
        signal.signal(number, before)


def test_handlers_are_put_back_after_an_error() -> None:
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    with pytest.raises(ZeroDivisionError), stop_on_signal():
        raise ZeroDivisionError
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before


def test_a_thread_that_is_not_the_main_one_takes_no_signals() -> None:
    found: list[bool] = []

    def work() -> None:
        with stop_on_signal() as wish:
            found.append(wish.made)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [False]


def test_sigterm_does_what_ctrl_c_does() -> None:
    before = signal.getsignal(signal.SIGTERM)
    try:
        sigterm_as_ctrl_c()
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGTERM)
    finally:
        signal.signal(signal.SIGTERM, before)
