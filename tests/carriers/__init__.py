"""Several carriers, rates, failover and fair shares, with real processes and simulated SMSCs."""
