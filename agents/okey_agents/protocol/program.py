"""Program: a bot in any language, as a process that speaks the protocol. Its name is `cmd:` and a command line.

A program that dies, hangs, floods its pipes or breaks the protocol is ended together with its children, the question
raises `ProgramError` with a sentence, and the next question starts the program anew.
"""

import os
import time
import weakref
from typing import Any

import numpy as np
import numpy.typing as npt

from okey_agents.protocol.messages import PROTOCOL, VERSION, observation_text, read_message, shown
from okey_agents.protocol.pipes import Pipes, ProgramError, ProgramTimeoutError
from okey_env.actions import ACTIONS_VERSION
from okey_env.observation import Observation

START_LIMIT = 60.0
"""Seconds that a program has from its start to `ready`."""
MOVE_LIMIT = 10.0
"""Seconds that a program has for a reply, unless the caller sets `move_limit`."""
END_LIMIT = 2.0
"""Seconds that a program has from `end` to its end."""
MAX_FAILURES = 20
"""Failures one after the other, after which a program is not started again."""

_NO_EVENTS = np.zeros(0, np.uint16)


class Program:
    """A program that plays.

    Args:
        command: its command line, without `cmd:`; quotes as in a shell.

    Raises:
        ValueError: the program cannot be started, or does not answer the first message as it has to.
    """

    def __init__(self, command: str) -> None:
        self.command = command
        self.name = command
        """The name that the program gives itself."""
        self.move_limit = MOVE_LIMIT
        """Seconds that the program has for a reply."""
        self.batch = 0
        """The most positions that the program takes in one message; 0: one, with its events."""
        self._pipes: Pipes | None = None
        self._closing: weakref.finalize[Any, Any] | None = None
        self._seed: int | None = None
        self._id = 0
        self._failures = 0
        try:
            self._start()
        except ProgramError as error:
            raise ValueError(f"the program {command!r} cannot be used: {error}") from None
        if self.batch:
            self.act_batch = self._act_batch

    def reset(self, seed: int) -> None:
        """Tell the program its seed."""
        self._seed = seed
        if self._pipes is not None and self._pipes.owner == os.getpid():
            self._talk(f'{{"type":"reset","seed":{seed}}}\n', wait=False)

    def act(self, observation: Observation) -> int:
        """Ask for a move.

        Raises:
            ProgramError: the program gave none; the message says why.
        """
        return self._ask([observation_text(observation)])[0]

    def close(self) -> None:
        """Tell the program that it is over; a program that does not end is killed."""
        self._pipes = None
        if self._closing is not None:
            self._closing()

    def __reduce__(self) -> tuple[Any, ...]:
        return Program, (self.command,)

    def _act_batch(self, records: npt.NDArray[np.record]) -> npt.NDArray[np.int64]:
        """Ask for the moves for `(N,)` OBSERVATION records."""
        actions: list[int] = []
        for first in range(0, len(records), self.batch):
            seen = records[first : first + self.batch]
            actions += self._ask(
                [
                    observation_text(Observation(seen[i : i + 1], _NO_EVENTS), with_events=False)
                    for i in range(len(seen))
                ]
            )
        return np.array(actions, np.int64)

    def _ask(self, positions: list[str]) -> list[int]:
        if self._pipes is None or self._pipes.owner != os.getpid():  # another process must not use the same pipes
            self._start()
        self._id += 1
        reply = self._talk(
            f'{{"type":"act","id":{self._id},"time_limit":{self.move_limit:g},"observations":[{",".join(positions)}]}}\n'
        )
        try:
            actions = actions_in(reply, self._id, len(positions))
        except ProgramError as error:
            raise self._failed(str(error)) from None
        self._failures = 0
        return actions

    def _start(self) -> None:
        if self._failures >= MAX_FAILURES:
            raise ProgramError(
                f"{self.command!r} failed {MAX_FAILURES} times one after the other: it is not started again"
            )
        pipes = self._pipes = Pipes(self.command)
        self._closing = weakref.finalize(self, end_program, pipes)
        ready = self._talk(hello(), limit=START_LIMIT)
        try:
            self.name, self.batch = ready_in(ready, self.command)
        except ProgramError as error:
            raise self._failed(str(error)) from None
        if self._seed is not None:
            self.reset(self._seed)

    def _talk(self, line: str, *, wait: bool = True, limit: float | None = None) -> dict[str, Any]:
        """Send a line, and receive the reply if there is to be one."""
        pipes = self._pipes
        assert pipes is not None
        limit = self.move_limit if limit is None else limit
        deadline = time.monotonic() + limit
        reply: dict[str, Any] = {}
        try:
            pipes.send(line, deadline)
            if wait:
                reply = read_message(pipes.receive(deadline))
        except ProgramTimeoutError as error:
            raise self._failed(f"{error}: it had {limit:g} s") from None
        except (ProgramError, ValueError) as error:
            raise self._failed(str(error)) from None
        except BaseException:  # an alarm of the arena, or Ctrl-C: the reply would be taken for that to another question
            self._failed("")
            raise
        return reply

    def _failed(self, why: str) -> ProgramError:
        """End the program, which is started again at the next question."""
        self._failures += 1
        if self._closing is not None and self._pipes is not None:
            self._closing.detach()
            self._pipes.kill()
        self._pipes = None
        return ProgramError(f"{self.command!r}: {why}")


def hello() -> str:
    """The first message to a program."""
    return f'{{"type":"hello","protocol":"{PROTOCOL}","version":{VERSION},"actions_version":{ACTIONS_VERSION}}}\n'


def ready_in(message: dict[str, Any], command: str) -> tuple[str, int]:
    """The name and the size of batches that a program says in `ready`.

    Raises:
        ProgramError: it is another message, or says something else.
    """
    if message["type"] == "error":
        raise ProgramError(f"it says: {message.get('message')!s:.300}")
    if message["type"] != "ready":
        raise ProgramError(f'its first message has the type {message["type"]!r:.80}: expected "ready"')
    if message.get("version") != VERSION:
        raise ProgramError(f"it speaks version {message.get('version')!r:.80} of the protocol: expected {VERSION}")
    name, batch = message.get("name", command), message.get("batch", 0)
    if not isinstance(name, str) or not name or len(name) > 100 or not name.isprintable():
        raise ProgramError(f"its name is {name!r:.80}: expected a text of 1 to 100 characters")
    if type(batch) is not int or not 0 <= batch <= 100_000:
        raise ProgramError(f"its batch is {batch!r:.80}: expected a whole number from 0 to 100000")
    return name, batch


def actions_in(message: dict[str, Any], question: int, count: int) -> list[int]:
    """The actions in a reply; whether they are legal is not checked.

    Raises:
        ProgramError: it is another message, or replies to something else.
    """
    if message["type"] == "error":
        raise ProgramError(f"it says: {message.get('message')!s:.300}")
    if message["type"] != "actions":
        raise ProgramError(f'it replied with the type {message["type"]!r:.80}: expected "actions"')
    if message.get("id") != question or isinstance(message.get("id"), bool):
        raise ProgramError(f"it replied to id {message.get('id')!r:.80}: expected {question}")
    actions = message.get("actions")
    if not isinstance(actions, list) or len(actions) != count or not all(type(action) is int for action in actions):
        said = shown(repr(actions).encode("utf-8", "replace"))
        raise ProgramError(f"its actions are {said}: expected a list of {count} whole numbers")
    return actions


def end_program(pipes: Pipes) -> None:
    """Tell a program that it is over, wait a moment for its end, and kill what is left of it."""
    if pipes.owner != os.getpid():  # a copy of the parent's memory: the program is the parent's
        return
    try:
        pipes.send('{"type":"end"}\n', time.monotonic() + 0.1)
        pipes.close_stdin()
        pipes.ends_within(END_LIMIT)
    except ProgramError:
        pass
    finally:
        pipes.kill()
