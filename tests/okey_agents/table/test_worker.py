"""Calls in another process: a call that hangs is ended, and calls that waited behind it are made."""

import asyncio
import os
import time

import pytest

from okey_agents.table.web.worker import Worker


def hang(seconds: float) -> int:
    time.sleep(seconds)
    return os.getpid()


def die() -> None:
    os._exit(1)


def chat() -> int:
    print("a bot that talks", flush=True)
    return 7


@pytest.mark.heavy
def test_a_process_that_hangs_or_dies_is_replaced() -> None:
    async def ask() -> None:
        worker = Worker(process=True)
        try:
            first = await worker.call(os.getpid, limit=60)
            assert first != os.getpid()
            hanging = asyncio.create_task(worker.call(hang, 60, limit=0.3))
            await asyncio.sleep(0.05)
            waiting = asyncio.create_task(worker.call(os.getpid, limit=60))
            with pytest.raises(TimeoutError):
                await hanging
            assert await waiting != first
            with pytest.raises(RuntimeError, match="has ended"):
                await worker.call(die)
            assert await worker.call(abs, -3, limit=60) == 3
            assert await worker.call(chat, limit=60) == 7
            with pytest.raises(ZeroDivisionError):
                await worker.call(divmod, 1, 0)
        finally:
            await worker.close()

    asyncio.run(ask())
