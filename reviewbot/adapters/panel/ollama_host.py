"""What ``OLLAMA_HOST`` means, by Ollama's own rules. Standard library only."""

from __future__ import annotations

from urllib.parse import urlsplit

from reviewbot.errors import ConfigError

DEFAULT_PORT = 11434

#: The address is not quoted: a password may stand in it.
_COMPLAINT = "OLLAMA_HOST is no address of a server"
_ADVICE = "write it as http://HOST:PORT"


def address(host: str) -> str:
    """The origin that ``OLLAMA_HOST`` means, by Ollama's own rules: ``host``, ``:port``, ``host:port`` or a URL.

    An address to listen on (``0.0.0.0``) becomes one to call. Raises ConfigError.
    """
    text = host.strip().strip("\"'").rstrip("/")
    scheme, has_scheme, rest = text.partition("://")
    if not has_scheme:
        scheme, rest = "http", text
    if rest.count(":") > 1 and not rest.startswith("["):
        rest = f"[{rest}]"
    try:
        parts = urlsplit(f"{scheme}://{rest}")
        name, port = parts.hostname or "127.0.0.1", parts.port
    except ValueError as exc:
        raise ConfigError(_COMPLAINT, hint=_ADVICE) from exc
    if scheme.lower() not in ("http", "https") or parts.username is not None or parts.query or parts.fragment:
        raise ConfigError(_COMPLAINT, hint=_ADVICE)
    name = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(name, name)
    usual = {"http": 80, "https": 443}[scheme.lower()] if has_scheme else DEFAULT_PORT
    shown = f"[{name}]" if ":" in name else name
    return f"{scheme.lower()}://{shown}:{port or usual}{parts.path}"
