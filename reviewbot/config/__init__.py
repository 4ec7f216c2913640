"""Configuration: bytes of files, environment and flags in; one frozen :class:`Configuration` out. No file is opened here."""

from __future__ import annotations

from reviewbot.config.configuration import Configuration, Folder, Setting
from reviewbot.config.layers import Source, load, validate

__all__ = ["Configuration", "Folder", "Setting", "Source", "load", "validate"]
