"""On the path of every Python process that these tests start: it connects to this machine only, and what it tries beyond is kept.

An audit hook sees each connection of the interpreter, whatever library makes it. Names are not resolved, unless they are this
machine's.
"""

from __future__ import annotations

import ipaddress
import os
import sys

FILE = "ATTEMPTS_FILE"
WATCHED = {
    "socket.connect": 1,
    "socket.sendto": 1,
    "socket.sendmsg": 1,
    "socket.getaddrinfo": 0,
    "socket.gethostbyname": 0,
    "socket.gethostbyaddr": 0,
}
"""Events, and which of their arguments is an address (or a host)."""


def is_near(host: object) -> bool:
    """Whether a host is this machine; none at all is a server's."""
    if isinstance(host, bytes | bytearray):
        host = host.decode("ascii", "replace")
    if host is None or host in ("", "localhost"):
        return True
    try:
        return ipaddress.ip_address(str(host).split("%")[0]).is_loopback
    except ValueError:
        return False


def watch(event: str, arguments: tuple[object, ...]) -> None:
    """Refuse what goes beyond this machine."""
    if event not in WATCHED:
        return
    address = arguments[WATCHED[event]]
    if event.startswith(("socket.connect", "socket.send")):
        if not isinstance(address, tuple):
            return  # a unix socket, or one that is connected already
        address = address[0]
    if is_near(address):
        return
    if where := os.environ.get(FILE):
        handle = os.open(where, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(handle, f"{event} {address!r}\n".encode())
        os.close(handle)
    raise PermissionError(f"a test may not reach {address!r}")


sys.addaudithook(watch)
