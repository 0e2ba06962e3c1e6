"""A real server on a free port, in a thread of this process, for tests and pictures that need a browser."""

import contextlib
import itertools
import threading
import time
from collections.abc import Iterator
from typing import Any

import uvicorn

from okey_agents.table.web.run import configuration, listening
from okey_agents.table.web.table_server import TableServer


@contextlib.contextmanager
def serving(tables: TableServer, port: int = 0) -> Iterator[str]:
    """The address of the page while it is served."""
    listener = listening("127.0.0.1", port)
    server = uvicorn.Server(configuration(tables))
    thread = threading.Thread(target=server.run, args=([listener],))
    thread.start()
    try:
        while not (server.started and tables.ready.is_set()):  # the first server on a machine compiles for a minute
            assert thread.is_alive()
            time.sleep(0.01)
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/"
    finally:
        server.should_exit = True
        thread.join(30)
        server.force_exit = True  # whatever a page does, a test that has failed must come to its end
        thread.join(30)
        assert not thread.is_alive()
        listener.close()


def same_seeds() -> Any:
    """Seeds that are the same in every run."""
    return itertools.count(1).__next__
