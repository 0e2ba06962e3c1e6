"""Thinking in another process: what hangs is ended, and who only waited behind it is asked again."""

import asyncio
import os
import time

import pytest

from okey_agents.table.web.thinker import Thinker


def hang(seconds: float) -> int:
    time.sleep(seconds)
    return os.getpid()


def die() -> None:
    os._exit(1)


def chat() -> int:
    print("a bot that talks", flush=True)
    return 7


def test_a_process_that_hangs_or_dies_is_replaced() -> None:
    async def ask() -> None:
        thinker = Thinker(process=True)
        try:
            first = await thinker.think(os.getpid, limit=60)
            assert first != os.getpid()
            hanging = asyncio.create_task(thinker.think(hang, 60, limit=0.3))
            await asyncio.sleep(0.05)
            waiting = asyncio.create_task(thinker.think(os.getpid, limit=60))
            with pytest.raises(TimeoutError):
                await hanging
            assert await waiting != first
            with pytest.raises(RuntimeError, match="has died over it"):
                await thinker.think(die)
            assert await thinker.think(abs, -3, limit=60) == 3
            assert await thinker.think(chat, limit=60) == 7
            with pytest.raises(ZeroDivisionError):
                await thinker.think(divmod, 1, 0)
        finally:
            await thinker.close()

    asyncio.run(ask())
