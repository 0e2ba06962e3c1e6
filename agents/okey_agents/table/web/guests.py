"""Who is connected, and from where: the limits on connections, and the back-off for addresses that flood the server."""

import ipaddress
import time
from collections import Counter
from typing import TYPE_CHECKING, Protocol

from okey_agents.table.web.refusal import Refused

if TYPE_CHECKING:
    from okey_agents.table.web.table_server import Limits

_REMEMBERED = 1000
"""Addresses whose offences are remembered."""
_FORGIVEN = 60.0
"""Seconds without an offence after which an address begins anew."""


class Guest(Protocol):
    """A connection."""

    address: str

    @property
    def seated(self) -> bool:
        """Whether it sits at a table or watches one."""

    def close(self, code: str, text: str) -> None:
        """Say why, and close the connection; returns at once."""


class Guests:
    """The connections of one server.

    Args:
        limits: how many there may be, and how long an address is refused.
    """

    def __init__(self, limits: "Limits") -> None:
        self._limits = limits
        self._guests: dict[Guest, None] = {}
        """Those that have been silent longest come first."""
        self._offences: dict[str, tuple[int, float]] = {}
        """By address: how many, and until when it is refused."""

    def __len__(self) -> int:
        return len(self._guests)

    def enter(self, guest: Guest) -> None:
        """Add a connection. If there are too many, one that sits nowhere and has been silent for long makes room.

        Raises:
            Refused: there is no room.
        """
        own = [other for other in self._guests if other.address == guest.address]
        if len(own) >= self._limits.connections_per_address:
            self._make_room(guest.address)
        elif len(self._guests) >= self._limits.connections:
            idle = Counter(other.address for other in self._guests if not other.seated)
            self._make_room(idle.most_common(1)[0][0] if idle else None)
        self._guests[guest] = None

    def _make_room(self, address: str | None) -> None:
        idle = (guest for guest in self._guests if not guest.seated and guest.address == address)
        oldest = next(idle, None)
        if oldest is None:
            raise Refused("too_many_connections", "this server has as many connections as it accepts")
        self.leave(oldest)
        oldest.close("too_many_connections", "this connection makes room for another")

    def spoke(self, guest: Guest) -> None:
        """Take note that a connection has sent a message."""
        if guest in self._guests:
            del self._guests[guest]
            self._guests[guest] = None

    def leave(self, guest: Guest) -> None:
        """Remove a connection."""
        self._guests.pop(guest, None)

    def offend(self, address: str) -> None:
        """Refuse an address for a while, longer each time: one of its connections has flooded the server."""
        now = time.monotonic()
        times, until = self._offences.pop(address, (0, now))
        times = times + 1 if now < until + _FORGIVEN else 1
        wait = min(self._limits.back_off * 2 ** min(times - 1, 30), self._limits.most_back_off)
        self._offences[address] = (times, now + wait)
        if len(self._offences) > _REMEMBERED:
            del self._offences[next(iter(self._offences))]

    def refused(self, address: str) -> bool:
        """Whether an address has to wait before it may connect again."""
        _, until = self._offences.get(address, (0, 0.0))
        return time.monotonic() < until


def address_of(host: str) -> str:
    """The address by which a person is counted: of an IPv6 address its first half, since one person has all the rest.

    >>> address_of("2001:db8::7"), address_of("::ffff:192.0.2.7"), address_of("testclient")
    ('2001:db8::/64', '192.0.2.7', 'testclient')
    """
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return host
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(ipaddress.ip_network((address, 64), strict=False)) if not address.is_loopback else str(address)
