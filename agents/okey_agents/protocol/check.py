"""Checking a program: rounds and traps that bring out faults, and the faults in sentences."""

import contextlib
import dataclasses
import json
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from okey_agents.protocol.messages import observation_text, read_message
from okey_agents.protocol.pipes import Pipes, ProgramError, ProgramTimeoutError
from okey_agents.protocol.program import END_LIMIT, START_LIMIT, actions_in, hello, ready_in
from okey_env.bots import make_bot
from okey_env.observation import Observation
from okey_env.round import Round, derive_seed
from okey_env.rules import Rules
from okey_env.tiles import NUM_SEATS

_MOST_STDERR = 1 << 20  # bytes; a program that writes more is told that it floods
_MOST_STARTS = 5
_GIVE_UP = 25  # faults after which no more questions are asked


@dataclasses.dataclass
class Check:
    """What was found."""

    name: str = ""
    moves: int = 0
    slowest: float = 0.0
    seconds: float = 0.0
    faults: Counter[str] = dataclasses.field(default_factory=Counter)
    """Sentences, with the number of times that each was found."""

    def text(self) -> str:
        """The report: a line for each fault, or one that says that there is none."""
        lines = [
            f"{number}. {sentence}" + (f" ({times} times)" if times > 1 else "")
            for number, (sentence, times) in enumerate(self.faults.items(), 1)
        ]
        pace = (
            f"{self.seconds / self.moves * 1000:.2f} ms a move, {self.slowest * 1000:.1f} ms at most"
            if self.moves
            else ""
        )
        what = f"{len(lines)} kinds of faults" if len(lines) > 1 else "1 kind of fault" if lines else "no fault"
        lines.append(f"{self.name or 'the program'}: {what} in {self.moves} moves" + (f"; {pace}" if pace else ""))
        return "\n".join(lines)


class _GaveUpError(Exception):
    """There are so many faults that no more questions are asked."""


class _Checker:
    def __init__(self, command: str, move_limit: float, seed: int) -> None:
        self.command = command
        self.move_limit = move_limit
        self.seed = seed
        self.found = Check()
        self.batch = 0
        self._pipes: Pipes | None = None
        self._id = 0
        self._starts = 0

    # --- talking --------------------------------------------------------------------------------------------------

    def pipes(self) -> Pipes:
        """The program, started anew if it has failed."""
        if self._pipes is None:
            self._starts += 1
            if self._starts > _MOST_STARTS:
                raise _GaveUpError
            self._pipes = Pipes(self.command)
            self._pipes.send(hello(), time.monotonic() + START_LIMIT)
            try:
                line = self._pipes.receive(time.monotonic() + START_LIMIT)
            except ProgramTimeoutError:
                raise ProgramError(f"it does not answer hello with ready within {START_LIMIT:g} s") from None
            self.found.name, self.batch = ready_in(read_message(line), self.command)
            self._pipes.send(f'{{"type":"reset","seed":{self.seed}}}\n', time.monotonic() + self.move_limit)
        return self._pipes

    def ask(self, positions: list[str], number: int | None = None, more: str = "") -> list[int]:
        """Ask for moves.

        Args:
            positions: the positions as JSON.
            number: the id; None: the next.
            more: further fields of the message, with a comma at the end.
        """
        pipes = self.pipes()
        self._id = self._id + 1 if number is None else number
        began = time.perf_counter()
        deadline = time.monotonic() + self.move_limit
        pipes.send(
            f'{{"type":"act",{more}"id":{self._id},"time_limit":{self.move_limit:g},'
            f'"observations":[{",".join(positions)}]}}\n',
            deadline,
        )
        try:
            line = pipes.receive(deadline)
        except ProgramTimeoutError:
            raise ProgramError(f"it does not reply within {self.move_limit:g} s") from None
        took = time.perf_counter() - began
        found = self.found
        found.moves, found.seconds = found.moves + len(positions), found.seconds + took
        found.slowest = max(found.slowest, took / len(positions))
        return actions_in(read_message(line), self._id, len(positions))

    @contextlib.contextmanager
    def faults(self, where: str) -> Iterator[None]:
        """Write down what goes wrong, and end the program, which is then started anew."""
        try:
            yield
        except (ProgramError, ValueError) as error:
            self.fault(f"{where}: {error}")
            self.stop()

    def fault(self, sentence: str) -> None:
        """Write down a fault."""
        self.found.faults[sentence] += 1
        if self.found.faults.total() >= _GIVE_UP:
            raise _GaveUpError

    def stop(self) -> None:
        """End the program without asking."""
        if self._pipes is not None:
            self._pipes.kill()
        self._pipes = None

    # --- rounds and traps -----------------------------------------------------------------------------------------

    def play(self, rules: Rules, number: int, seat: int) -> list[Observation]:
        """Play a round with the program in one seat and `greedy` in the others; what the program saw."""
        round = Round(rules, seed=derive_seed(self.seed, number))
        others, seen = make_bot("greedy", seed=number), []
        while not round.over:
            observation = round.observe(round.turn)
            action = others.act(observation)
            if round.turn == seat:
                seen.append(observation)
                with self.faults(f"a move under {rules.name}"):
                    (given,) = self.ask([observation_text(observation)])
                    if given in observation.legal_actions:
                        action = given
                    else:
                        self.fault(_illegal(given, observation))
            round.apply(action)
        return seen

    def same_moves(self, seen: list[Observation]) -> None:
        """Ask the same positions again, alone and in batches: the moves have to be the same."""
        first: list[int] = []
        with self.faults("the same positions again"):
            first = [self.ask([observation_text(one)])[0] for one in seen]
            self.pipes().send(f'{{"type":"reset","seed":{self.seed}}}\n', time.monotonic() + self.move_limit)
            again = [self.ask([observation_text(one)])[0] for one in reversed(seen)]
            if first != again[::-1]:
                different = sum(a != b for a, b in zip(first, again[::-1], strict=True))
                self.fault(
                    f"the same position gets another move when it is asked again with the same seed ({different} of "
                    f"{len(first)}): a move may depend on the seed and the observation only"
                )
        if self.batch and len(first) == len(seen):
            with self.faults("several positions in one message"):
                given: list[int] = []
                for start in range(0, len(seen), self.batch):
                    some = seen[start : start + self.batch]
                    given += self.ask([observation_text(one, with_events=False) for one in some])
                if given != first:
                    self.fault("a position gets another move in a batch than alone")

    def traps(self, seen: list[Observation]) -> None:
        """Messages that a later version or a nervous host may send."""
        position = observation_text(seen[0])
        deadline = time.monotonic() + 60
        with self.faults("a field that is not in the protocol"):
            self.ask([position[:-1] + ',"x_new":{"rack":[0],"legal_actions":[999]}}'], more='"x_new":[{"id":5}],')
        with self.faults("a message of a type that is not in the protocol"):
            self.pipes().send('{"type":"x_new","id":77}\n', deadline)
            self.ask([position])
        with self.faults("an id that is far from the last"):
            self.ask([position], number=2**40)
        with self.faults("spaces and another order of the fields"):
            self._in_another_form(seen[0])
        with self.faults("an end of the line as Windows writes it"):
            self._id += 1
            pipes = self.pipes()
            pipes.send(f'{{"type":"act","id":{self._id},"time_limit":2,"observations":[{position}]}}\r\n', deadline)
            actions_in(read_message(pipes.receive(time.monotonic() + self.move_limit)), self._id, 1)
        with self.faults("two questions before the first reply"):
            pipes = self.pipes()
            for number in (self._id + 1, self._id + 2):
                pipes.send(f'{{"type":"act","id":{number},"time_limit":2,"observations":[{position}]}}\n', deadline)
            for number in (self._id + 1, self._id + 2):
                actions_in(read_message(pipes.receive(time.monotonic() + self.move_limit)), number, 1)
            self._id += 2
        with self.faults("after all replies"):
            time.sleep(0.1)
            if self.pipes().has_line():
                raise ProgramError(f"it writes what nobody asked for: {self.pipes().receive(deadline)!r:.100}")

    def _in_another_form(self, observation: Observation) -> None:
        self._id += 1
        data: dict[str, Any] = json.loads(observation_text(observation))
        reordered = dict(reversed(data.items()))
        message = {"observations": [reordered], "time_limit": self.move_limit, "id": self._id, "type": "act"}
        pipes = self.pipes()
        pipes.send(json.dumps(message, separators=(" , ", " : ")) + "\n", time.monotonic() + self.move_limit)
        (given,) = actions_in(read_message(pipes.receive(time.monotonic() + self.move_limit)), self._id, 1)
        if given not in observation.legal_actions:
            self.fault(_illegal(given, observation))

    def endings(self, seen: list[Observation]) -> None:
        """End the program by `end`, and another time by the end of its stdin."""
        for how in ("end", "the end of its stdin"):
            with self.faults(f"at {how}"):
                self.ask([observation_text(seen[0])])
                pipes = self.pipes()
                if pipes.stderr_bytes > _MOST_STDERR:
                    self.fault(f"it floods its stderr: {pipes.stderr_bytes / 2**20:.0f} MB in {self.found.moves} moves")
                if how == "end":
                    pipes.send('{"type":"end"}\n', time.monotonic() + 1)
                else:
                    pipes.close_stdin()
                if not pipes.ends_within(END_LIMIT):
                    self.fault(f"it does not end within {END_LIMIT:g} s after {how}")
                elif pipes.left_children():
                    self.fault(f"it leaves processes behind after {how}")
            self.stop()


def check(command: str, rules: Rules, *, rounds: int = 8, move_limit: float = 2.0, seed: int = 0) -> Check:
    """Put a program through rounds and traps.

    Args:
        command: its command line.
        rules: the rules of most rounds; some are played under others.
        rounds: rounds in each seat.
        move_limit: seconds after which a move is a fault.
        seed: settles the deals.

    Raises:
        ValueError: the program cannot be started at all.
    """
    checker = _Checker(command, move_limit, seed)
    Pipes(command).kill()  # raises if there is no such program
    try:
        try:
            checker.pipes()
        except (ProgramError, ValueError) as error:
            checker.fault(f"at its start: {error}")
            return checker.found
        kinds = [rules, Rules.preset("klasik"), Rules.preset("gamelake", throw_visibility="top_only", teams=True)]
        seen: list[Observation] = []
        for number in range(rounds * NUM_SEATS):
            played = kinds[0] if number % 4 < 2 else kinds[number % 4 - 1]
            seen += checker.play(played, number, number // rounds)
        chosen = [seen[i] for i in np.linspace(0, len(seen) - 1, min(60, len(seen))).astype(int)]
        checker.same_moves(chosen)
        checker.traps(chosen)
        checker.endings(chosen)
    except _GaveUpError:
        checker.found.faults["there are so many faults that the check ends here"] += 1
    finally:
        checker.stop()
    return checker.found


def _illegal(action: int, observation: Observation) -> str:
    if not 0 <= action < len(observation.action_mask):
        return f"it gives the action {action}: expected one of legal_actions, 0 to {len(observation.action_mask) - 1}"
    kind = "a finish" if action >= 56 else "a throw" if action >= 3 else ("drawing", "taking", "showing")[action]
    return f"{kind} that is not in legal_actions in the phase {observation.phase!r}"
