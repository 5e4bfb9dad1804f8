"""How long a server process may take to shut down. Apart from `process.py`, as the supervisor loads no application."""

END_SECONDS = 20.0
"""How long open requests may take after the server is told to stop."""
KILL_SECONDS = END_SECONDS + 10
"""How long a process may take to stop before it is killed."""
