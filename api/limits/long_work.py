"""Long computations in a thread give way to the event loop.

Python runs one thread at a time: without a pause, every other request of the process waits for each switch.
"""

import time

SLICE_SECONDS = 0.005
PAUSE_SECONDS = 0.001


class LongWork:
    """One computation. Call `step` often."""

    def __init__(self) -> None:
        self._pause_at = time.monotonic() + SLICE_SECONDS

    def step(self) -> None:
        """Give way if it is time to."""
        if time.monotonic() >= self._pause_at:
            time.sleep(PAUSE_SECONDS)
            self._pause_at = time.monotonic() + SLICE_SECONDS
