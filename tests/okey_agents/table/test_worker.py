"""Calls in other processes: one that hangs is ended, and what is slow does not hold up what is quick."""

import asyncio
import os
import threading
import time

import pytest

from okey_agents.table.web.pool import Needs, Pool
from okey_agents.table.web.worker import Ended, Worker

PREPARED: list[str] = []


def hang(seconds: float) -> int:
    time.sleep(seconds)
    return os.getpid()


def die() -> None:
    os._exit(1)


def chat() -> int:
    print("a bot that talks", flush=True)
    return 7


def leave() -> None:
    raise SystemExit("I am off")


class SilentError(Exception):
    """An error that cannot say what it is."""

    def __repr__(self) -> str:
        raise RuntimeError("no words")


def fail_silently() -> None:
    raise SilentError


@pytest.mark.heavy
def test_a_process_that_hangs_or_dies_is_replaced() -> None:
    async def ask() -> None:
        worker = Worker(process=True)
        try:
            first = await worker.call(os.getpid, limit=60)
            assert first != os.getpid()
            with pytest.raises(TimeoutError):
                await worker.call(hang, 60, limit=0.3)
            second = await worker.call(os.getpid, limit=60)
            assert second != first
            with pytest.raises(Ended, match="has ended"):
                await worker.call(die)
            assert await worker.call(abs, -3, limit=60) == 3
            assert await worker.call(chat, limit=60) == 7
            with pytest.raises(ZeroDivisionError):
                await worker.call(divmod, 1, 0)
            with pytest.raises(RuntimeError, match="I am off"):
                await worker.call(leave)
            with pytest.raises((RuntimeError, SilentError)):
                await worker.call(fail_silently)
            third = await worker.call(os.getpid, limit=60)
            os.kill(third, 9)  # as the system does when there is no memory
            await asyncio.sleep(0.3)
            assert await worker.call(os.getpid, limit=60) != third
        finally:
            await worker.close()

    asyncio.run(ask())


GATE = threading.Event()


def wait_at_the_gate() -> int:
    GATE.wait(60)
    return 7


def prepare(name: str) -> None:
    PREPARED.append(name)


def prepare_long(name: str) -> None:
    PREPARED.append(name)
    time.sleep(1.2)


def needs(name: str) -> Needs:
    return Needs(name, prepare, (name,))


def test_a_slow_call_does_not_hold_up_a_quick_one() -> None:
    async def ask() -> None:
        pool = Pool(3, 1, process=False)
        try:
            assert await pool.call(needs("quick"), abs, -1) == 1
            slow = [asyncio.create_task(pool.call(needs(f"slow {i}"), wait_at_the_gate)) for i in range(4)]
            await asyncio.sleep(0.05)
            for _ in range(20):
                assert await pool.call(needs("quick"), abs, -1) == 1
            assert not any(task.done() for task in slow)
            GATE.set()
            assert await asyncio.gather(*slow) == [7] * 4
        finally:
            await pool.close()

    asyncio.run(ask())


def test_preparing_is_done_once_and_does_not_count_as_thinking() -> None:
    async def ask() -> None:
        PREPARED.clear()
        bot = Needs("bot", prepare_long, ("bot",))
        pool, told = Pool(3, process=False), []
        try:
            calls = [pool.call(bot, abs, -i, limit=1.0, on_prepare=lambda: told.append("bot")) for i in range(4)]
            assert await asyncio.gather(*calls) == [0, 1, 2, 3]
            assert PREPARED == told == ["bot"]
            assert pool.prepared("bot")
            with pytest.raises(TimeoutError):
                await pool.call(bot, hang, 0.6, limit=0.05)
            assert not pool.prepared("bot")  # its process has been ended
            assert await pool.call(bot, abs, -5, limit=1.0) == 5
            assert PREPARED == ["bot", "bot"]
        finally:
            await pool.close()

    asyncio.run(ask())


def test_a_call_that_is_given_up_while_it_waits_leaves_its_place_to_the_next() -> None:
    async def ask() -> None:
        pool = Pool(1, process=False)
        try:
            first = asyncio.create_task(pool.call(needs("a"), hang, 0.3))
            given_up = asyncio.create_task(pool.call(needs("b"), hang, 30))
            last = asyncio.create_task(pool.call(needs("a"), abs, -2))
            await asyncio.sleep(0.1)
            given_up.cancel()
            assert await asyncio.wait_for(last, 20) == 2
            await first
        finally:
            await pool.close()

    asyncio.run(ask())
