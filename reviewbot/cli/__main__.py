"""``python -m reviewbot.cli`` is ``reviewbot``."""

from __future__ import annotations

import sys

from reviewbot.cli import main

sys.exit(main())
