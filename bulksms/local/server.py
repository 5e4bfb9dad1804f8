"""A child process that listens on a TCP port."""

from bulksms.local.errors import LocalError
from bulksms.local.ports import free_port
from bulksms.local.process import Process

ATTEMPTS = 3


class Server(Process):
    """A server on the loopback address. A subclass defines its URL, and what it logs if its port is in use."""

    port_taken: str
    start_seconds = 60.0

    _port = 0

    @property
    def port(self) -> int:
        """TCP port; 0 before the first start."""
        return self._port

    @property
    def url(self) -> str:
        """URL with the password. Not for logs."""
        raise NotImplementedError

    def start(self, port: int | None = None) -> str:
        """Start it and wait until it accepts connections. Returns its URL.

        Without `port` it uses the port of its previous start, or a free one at first. Raises LocalError, with nothing
        left running.
        """
        if self.exit_code() is None:
            raise LocalError(f"{self.name} is already running (pid {self.pid}).")
        for attempt in range(ATTEMPTS):
            self._port = port or self._port or free_port()
            try:
                self.launch()
                self.wait_ready(self.start_seconds)
                return self.url
            except LocalError:
                taken = self.port_taken in self.log_tail()
                self.stop()
                if port or not taken or attempt == ATTEMPTS - 1:
                    raise
                self._port = 0
        raise AssertionError("every attempt returns or raises")
