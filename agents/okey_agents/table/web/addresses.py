"""The addresses under which others reach a server of this machine, and an address as a QR code."""

import ipaddress
import socket
import sys

import segno

_FAR = {socket.AF_INET: "192.0.2.1", socket.AF_INET6: "2001:db8::1"}
"""Addresses of documentation (RFC 5737, RFC 3849). Nothing is sent there."""


def reachable(host: str, port: int) -> list[str]:
    """The addresses of the page for other machines, the likeliest first; none if the server listens on loopback only.

    Args:
        host: the address or name on which the server listens.
        port: its port.
    """
    if host not in ("0.0.0.0", "::"):
        return [] if _is_loopback(host) else [page_at(host, port)]
    family = socket.AF_INET6 if host == "::" else socket.AF_INET
    found = [*_of_route(family), *_of_name(family), *_of_interfaces(family)]
    return [page_at(address, port) for address in dict.fromkeys(found) if _works(address, family)]


def page_at(host: str, port: int) -> str:
    """The address of the page.

    >>> page_at("::1", 8765)
    'http://[::1]:8765/'
    """
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"


def qr_svg(text: str) -> str:
    """A text as a QR code, as the markup of an SVG."""
    return str(segno.make(text, micro=False).svg_inline(border=2, omitsize=True, dark="#0d1613", light="#fff"))


def print_qr(text: str) -> None:
    """Print a text as a QR code, if the output can show it."""
    if (sys.stdout.encoding or "").lower().replace("-", "").startswith("utf"):
        segno.make(text, micro=False).terminal(compact=True, border=1)


def _of_route(family: int) -> list[str]:
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((_FAR[socket.AddressFamily(family)], 9))
            return [str(probe.getsockname()[0])]
        except OSError:
            return []


def _of_name(family: int) -> list[str]:
    try:
        return [str(entry[4][0]) for entry in socket.getaddrinfo(socket.gethostname(), None, family)]
    except OSError:
        return []


def _of_interfaces(family: int) -> list[str]:
    """On Linux, the address of each network interface."""
    try:
        import fcntl

        names = [name.encode()[:15] for _, name in socket.if_nameindex()]
    except (ImportError, OSError):
        return []
    found = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        for name in names if family == socket.AF_INET and sys.platform == "linux" else []:
            try:
                answer = fcntl.ioctl(probe.fileno(), 0x8915, name.ljust(40, b"\0"))  # SIOCGIFADDR
            except OSError:
                continue  # an interface without an address
            found.append(socket.inet_ntoa(answer[20:24]))
    return found


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def _works(address: str, family: int) -> bool:
    """Whether an address is one of this machine that others can have a use for."""
    plain = ipaddress.ip_address(address.partition("%")[0])
    if plain.is_loopback or plain.is_link_local or plain.is_unspecified:
        return False
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        try:
            probe.bind((address, 0))
        except OSError:
            return False
    return True
