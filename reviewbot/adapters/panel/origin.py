"""Where a key may go: the origin of an account's address, and which addresses are allowed at all. Standard library only."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from urllib.parse import urlsplit

from reviewbot.errors import ConfigError

_DEFAULT_PORTS = {"http": 80, "https": 443}

#: RFC 1918, RFC 4193 (unique local) and link-local: the addresses that never leave a network of somebody's own.
_PRIVATE = (
    ipaddress.IPv4Network((10 << 24, 8)),
    ipaddress.IPv4Network((172 << 24 | 16 << 16, 12)),
    ipaddress.IPv4Network((192 << 24 | 168 << 16, 16)),
    ipaddress.IPv4Network((169 << 24 | 254 << 16, 16)),
    ipaddress.IPv6Network("fc00::/7"),
    ipaddress.IPv6Network("fe80::/10"),
)


@dataclass(frozen=True, slots=True)
class Origin:
    """Scheme, host (lower case, without brackets) and port."""

    scheme: str
    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"

    @property
    def is_loopback(self) -> bool:
        """This machine: a literal loopback address, or ``localhost``."""
        address = _address(self.host)
        return self.host == "localhost" if address is None else address.is_loopback

    @property
    def is_private(self) -> bool:
        """A literal private address. A name never counts: who answers for it may change between two look-ups."""
        address = _address(self.host)
        return address is not None and any(address.version == net.version and address in net for net in _PRIVATE)


def check_origin(base_url: str, allow_plain_http: bool = False, *, has_key: bool = False) -> Origin:
    """The origin of an address to which requests may go. Raises ConfigError for any other.

    Allowed: https anywhere; http on this machine; http on a literal private address where the operator allowed it
    (``allow_plain_http``) and no key would travel in clear text.
    """
    origin = _parsed(base_url)
    if origin.scheme == "https" or origin.is_loopback:
        return origin
    if not origin.is_private:
        raise ConfigError(f"{origin} is neither https nor on this machine", hint="use an https:// address")
    if not allow_plain_http:
        raise ConfigError(
            f"{origin} would be asked in clear text",
            hint="use https, or allow it with providers.NAME.allow_plain_http if the network is your own",
        )
    if has_key:
        raise ConfigError(f"a key would be sent to {origin} in clear text", hint="use https, or take the key away")
    return origin


def _parsed(base_url: str) -> Origin:
    try:
        parts = urlsplit(base_url)
        port = parts.port
    except ValueError as exc:
        raise ConfigError("the address of a provider is not a URL", hint="write it as https://host/path") from exc
    scheme, host = parts.scheme.lower(), (parts.hostname or "").lower()
    if scheme not in _DEFAULT_PORTS or not host or not base_url.isascii() or any(c.isspace() for c in base_url):
        raise ConfigError("the address of a provider is not an http or https URL", hint="write it as https://host/path")
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        # Not quoted: what stands there may be a password.
        raise ConfigError(
            f"the address of a provider at {host} holds a user name, a query or a fragment",
            hint="leave only scheme, host, port and path; the key has a setting of its own",
        )
    return Origin(scheme, host, port if port is not None else _DEFAULT_PORTS[scheme])


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address
