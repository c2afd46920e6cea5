"""One job in a process of its own: `python -m attnvat.experiments.worker` reads it as a line of JSON."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading

from attnvat.errors import UserError
from attnvat.experiments.job import job_from_dict, places_from_dict
from attnvat.experiments.perform import BusyError, perform
from attnvat.interruption import sigterm_as_ctrl_c
from attnvat.training.display import Plain

DONE, USER_ERROR, BUSY, STOPPED = 0, 2, 3, 130


def end_with_the_runner() -> None:
    """Stop when the runner is gone: it holds the other end of standard input for as long as it lives."""
    # The bare descriptor: a thread inside sys.stdin would hold its lock when the interpreter ends.
    while os.read(0, 1024):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


def main() -> int:
    """Do the job; the exit code says how it went, the log (standard error) what went on."""
    sigterm_as_ctrl_c()
    try:
        order = json.loads(sys.stdin.readline())
        threading.Thread(target=end_with_the_runner, daemon=True).start()
        perform(job_from_dict(order["job"]), places_from_dict(order["places"]), Plain())
    except BusyError:
        return BUSY
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return USER_ERROR
    except KeyboardInterrupt as interrupt:
        print(str(interrupt) or "stopped", file=sys.stderr)
        return STOPPED
    return DONE


if __name__ == "__main__":
    sys.exit(main())
