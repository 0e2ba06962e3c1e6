"""A program and its pipes: lines go in and come out before a deadline, and nothing that it does blocks this process.

The program leads a process group of its own, so it is ended together with its children. When this process ends, however
it ends, the program sees the end of its stdin.
"""

import contextlib
import os
import select
import shlex
import signal
import subprocess
import time
from collections import deque

from okey_agents.protocol.messages import shown

_MOST_LINE = 1 << 20
"""Bytes that a program may write without ending the line."""
_MOST_STDERR = 4096
_CHUNK = 1 << 16


class ProgramError(Exception):
    """What a program did wrong, in a sentence."""


class ProgramTimeoutError(ProgramError):
    """The program did not reply in time."""


class Pipes:
    """A program that runs.

    Args:
        command: the command line, with quotes as in a shell; no shell reads it.

    Raises:
        ValueError: the command line is empty or cannot be read, the program cannot be started, or this system has no
            pipes that can be waited for.
    """

    def __init__(self, command: str) -> None:
        if os.name != "posix":
            raise ValueError("programs as bots need Linux or macOS: this system cannot wait for pipes")
        try:
            words = shlex.split(command)
        except ValueError as error:
            raise ValueError(f"the command line {command!r} cannot be read: {error}") from None
        if not words:
            raise ValueError("there is no command after cmd: expected one, like cmd:./my_bot --level 3")
        try:
            self._process = subprocess.Popen(
                words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise ValueError(f"the program {words[0]!r} cannot be started: {reason}") from None
        self.owner = os.getpid()
        """The process that started the program."""
        assert self._process.stdin
        assert self._process.stdout
        assert self._process.stderr
        self._in, self._out, self._err = (
            stream.fileno() for stream in (self._process.stdin, self._process.stdout, self._process.stderr)
        )
        for pipe in (self._in, self._out, self._err):
            os.set_blocking(pipe, False)
        self._poll = select.poll()
        self._poll.register(self._out, select.POLLIN)
        self._poll.register(self._err, select.POLLIN)
        self._unread = b""
        self._lines: deque[bytes] = deque()
        self._ended = False
        self.stderr_bytes = 0
        """How much the program has written to stderr."""
        self._last_stderr = b""

    def send(self, text: str, deadline: float) -> None:
        """Write a line.

        Raises:
            ProgramError: the program has ended, or does not read until the deadline (of `time.monotonic`).
        """
        data = memoryview(text.encode("utf-8"))
        try:
            data = data[os.write(self._in, data) :]  # nearly always all of it
        except BlockingIOError:
            pass
        except BrokenPipeError:
            raise ProgramError(self._death()) from None
        while data:
            self._poll.register(self._in, select.POLLOUT)
            try:
                self._wait(deadline, "it does not read its stdin")
            finally:
                self._poll.unregister(self._in)
            try:
                data = data[os.write(self._in, data) :]
            except BlockingIOError:
                continue
            except BrokenPipeError:
                raise ProgramError(self._death()) from None

    def receive(self, deadline: float) -> bytes:
        """The next line that the program writes.

        Raises:
            ProgramError: the program has ended, writes a line without end, or writes none until the deadline.
        """
        while not self._lines:
            if self._ended:
                raise ProgramError(self._death())
            self._wait(deadline, "no reply")
        return self._lines.popleft()

    def has_line(self) -> bool:
        """Whether the program has already written another line."""
        if not self._lines:
            self._read_ready(0.0)
        return bool(self._lines)

    def close_stdin(self) -> None:
        """Let the program see the end of its stdin."""
        with contextlib.suppress(OSError):
            if self._process.stdin:
                self._process.stdin.close()

    def ends_within(self, seconds: float) -> bool:
        """Whether the program ends by itself; what it still writes is thrown away."""
        end = time.monotonic() + seconds
        while self._process.poll() is None:
            if time.monotonic() > end:
                return False
            if self._ended:
                time.sleep(0.005)
            else:
                self._read_ready(min(0.02, seconds))
                self._lines.clear()
        return True

    def left_children(self) -> bool:
        """Whether processes that the program started are still there after its end."""
        try:
            os.killpg(self._process.pid, 0)
        except OSError:
            return False
        return True

    def kill(self) -> None:
        """End the program and its children, and give back the pipes."""
        with contextlib.suppress(OSError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            with contextlib.suppress(OSError):
                if stream:
                    stream.close()

    def last_words(self) -> str:
        """The last line on stderr, for messages; empty if there is none."""
        lines = [line for line in self._last_stderr.splitlines() if line.strip()]
        return shown(lines[-1], 200) if lines else ""

    def _wait(self, deadline: float, what: str) -> None:
        """Wait until a pipe is ready, and read what has come."""
        left = deadline - time.monotonic()
        if left <= 0 or not self._read_ready(left):
            raise ProgramTimeoutError(f"{what} in time")

    def _read_ready(self, seconds: float) -> bool:
        ready = self._poll.poll(max(0.0, seconds) * 1000)
        for pipe, _ in ready:
            if pipe == self._out:
                self._take(self._read(pipe))
            elif pipe == self._err:
                data = self._read(pipe)
                self.stderr_bytes += len(data)
                self._last_stderr = (self._last_stderr + data)[-_MOST_STDERR:]
        return bool(ready)

    def _read(self, pipe: int) -> bytes:
        try:
            data = os.read(pipe, _CHUNK)
        except BlockingIOError:
            return b""
        if not data:
            self._poll.unregister(pipe)
            self._ended = self._ended or pipe == self._out
        return data

    def _take(self, data: bytes) -> None:
        *lines, self._unread = (self._unread + data).split(b"\n") if b"\n" in data else [self._unread + data]
        self._lines += lines
        if len(self._unread) > _MOST_LINE or len(self._lines) > _MOST_LINE // 64:
            raise ProgramError(f"it floods its stdout: {shown(self._unread or self._lines[0])}")

    def _death(self) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(0.5)
        with contextlib.suppress(OSError, ProgramError):
            while self._read_ready(0.0) and not self._ended:
                pass
            self._read_ready(0.0)
        code = self._process.returncode
        if code is None:
            how = "it closed its stdout"
        elif code < 0:
            how = f"it was ended by the signal {signal.Signals(-code).name}"
        else:
            how = f"it ended with status {code}"
        words = self.last_words()
        return how + (f"; its last line on stderr: {words}" if words else "")
