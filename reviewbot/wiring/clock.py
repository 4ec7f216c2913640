"""The machine's clock behind the port ``Clock``."""

from __future__ import annotations

import time


class SystemClock:
    """The machine's monotonic clock."""

    def seconds(self) -> float:
        """Seconds since some moment."""
        return time.monotonic()
