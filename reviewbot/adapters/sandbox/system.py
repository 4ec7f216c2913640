"""The system's programs and libraries as a job sees them, as little of ``/etc`` as they need, and people nobody has met."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from reviewbot.adapters.sandbox.mounts import Kind, Mount, made, read

_FOLDERS = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_LIBRARIES = ("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives")
_NETWORK = ("/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/services", "/etc/protocols", "/etc/gai.conf")
_CERTIFICATES = (
    *("/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/ssl/cert.pem"),
    *("/etc/pki/tls/certs", "/etc/pki/ca-trust/extracted"),
)
_PASSWD = "user:x:1000:1000::/tmp:/bin/sh\nroot:x:0:0::/root:/bin/sh\n"


def system(folder: Path, *, network: bool = False) -> Iterator[Mount]:
    """What every job sees. ``folder`` takes the files that are made up. With ``network`` also what finds and trusts servers."""
    yield read(Path("/usr"))
    for name in _FOLDERS:
        place = Path(name)
        if place.is_symlink():
            yield Mount(Kind.LINK, name, str(place.readlink()))
        elif place.is_dir():
            yield read(place)
    yield from (read(Path(name)) for name in _LIBRARIES if Path(name).exists())
    yield made(folder / "passwd", _PASSWD, "/etc/passwd")
    if network:
        yield from (read(Path(os.path.realpath(name)), name) for name in (*_NETWORK, *_CERTIFICATES) if Path(name).exists())
