"""What is done after crashes: leases that ran out, stalled sessions, a database that went back in time."""
