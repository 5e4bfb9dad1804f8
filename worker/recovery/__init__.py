"""Recovery after crashes: expired leases, stalled sessions, a database that was rolled back."""
