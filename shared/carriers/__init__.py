"""What API and workers both know of carriers: SMPP, HTTP, error codes, receipts."""
