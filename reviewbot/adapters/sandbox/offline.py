"""What programs that would ask the network find here instead: the caches that the operator has filled, and words that keep them
from asking."""

from __future__ import annotations

from collections.abc import Mapping

GO_MODULES = "go/pkg/mod"
"""Go's module cache, below its home."""
ASKED_PLACES = "cache/vcs"
"""The part of it that knows where modules came from, and may know with which password. No build reads it."""
_GO = {
    "GOPATH": "{home}/go",
    "GOMODCACHE": "{home}/go/pkg/mod",
    "GOCACHE": "{home}/.cache/go-build",
    "GOPROXY": "off",
    "GOSUMDB": "off",
    "GOTOOLCHAIN": "local",
    "GOTELEMETRY": "off",
}
_NPM = {"npm_config_offline": "true", "npm_config_update_notifier": "false"}
_ASKING: tuple[tuple[tuple[str, ...], Mapping[str, str]], ...] = ((("go", "golangci-lint"), _GO), (("npm", "npx"), _NPM))


def variables(programs: Mapping[str, str], *, home: str) -> dict[str, str]:
    """What the environment of a job with these programs says, where its home is ``home``."""
    found: dict[str, str] = {}
    for names, said in _ASKING:
        if any(name in programs for name in names):
            found |= {name: value.replace("{home}", home) for name, value in said.items()}
    return found
