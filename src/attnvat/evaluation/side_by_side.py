"""Batches worked on side by side, one thread each.

Many small operations gain little from several threads inside each of them; whole batches side by side use every core.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor

import torch

from attnvat.evaluation.batches import Rows


def side_by_side(work: Callable[[Rows], None], batches: Iterable[Rows], threads: int) -> Iterator[Rows]:
    """Do `work` for every batch, `threads` at a time; gives each batch when it is done, in order."""
    if threads == 1:
        for rows in batches:
            work(rows)
            yield rows
        return
    inner = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with ThreadPoolExecutor(threads, initializer=torch.set_num_threads, initargs=(1,)) as pool:
            under_way = [(rows, pool.submit(work, rows)) for rows in batches]
            try:
                for rows, done in under_way:
                    done.result()
                    yield rows
            finally:
                pool.shutdown(cancel_futures=True)
    finally:
        torch.set_num_threads(inner)
