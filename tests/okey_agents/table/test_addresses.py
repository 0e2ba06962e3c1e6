"""The addresses under which friends reach the page."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from okey_agents.table.web.addresses import qr_svg, reachable


def test_a_server_for_this_machine_alone_has_no_address_for_others() -> None:
    for host in ("127.0.0.1", "::1", "localhost", "127.8.8.8"):
        assert reachable(host, 8765) == []


def test_a_server_at_one_address_is_reached_there() -> None:
    assert reachable("192.0.2.7", 8765) == ["http://192.0.2.7:8765/"]
    assert reachable("2001:db8::7", 8765) == ["http://[2001:db8::7]:8765/"]


def test_a_server_at_every_address_names_those_of_this_machine() -> None:
    """None of them is loopback, and a socket can be bound to each."""
    for address in reachable("0.0.0.0", 8765):
        host = address.removeprefix("http://").removesuffix(":8765/")
        assert not host.startswith("127.")
        with socket.socket() as probe:
            probe.bind((host, 0))


def test_a_qr_code_is_an_svg_of_its_text() -> None:
    link = "http://192.0.2.7:8765/#i=" + "x" * 32
    assert qr_svg(link).startswith("<svg")
    assert qr_svg(link) == qr_svg(link) != qr_svg(link + "y")


@pytest.mark.heavy
def test_the_addresses_are_printed(tmp_path: Path) -> None:
    command = "from okey_agents.cli import main; main()"
    arguments = ["play", "--no-browser", "--host", "0.0.0.0", "--port", "0", "--data", str(tmp_path)]
    with subprocess.Popen(
        [sys.executable, "-c", command, *arguments],
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
    ) as server:
        assert server.stdout is not None
        try:
            first = server.stdout.readline()
            assert "The table is at http://127.0.0.1:" in first
            port = first.split(":")[2].split("/")[0]
            if addresses := reachable("0.0.0.0", int(port)):
                assert server.stdout.readline().split("Others reach it at ")[1].split() == addresses
                assert set(server.stdout.readline().strip()) <= set("█▀▄ ")
        finally:
            server.terminate()
