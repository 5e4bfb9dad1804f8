"""Long computations in a thread give way to the event loop, and end when their client has left.

Python runs one thread at a time: without a pause, every other request of the process waits for each switch.
"""

import time

from shared.db.cancellation import current_cancellation

SLICE_SECONDS = 0.005
PAUSE_SECONDS = 0.001


class LongWork:
    """One computation. Call `step` often."""

    def __init__(self) -> None:
        self._cancellation = current_cancellation.get()
        self._pause_at = time.monotonic() + SLICE_SECONDS

    def step(self) -> None:
        """Give way if it is time to. Raises Canceled if nobody waits for the result."""
        if time.monotonic() < self._pause_at:
            return
        if self._cancellation is not None:
            self._cancellation.check()
        time.sleep(PAUSE_SECONDS)
        self._pause_at = time.monotonic() + SLICE_SECONDS
