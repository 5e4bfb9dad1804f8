"""Knowledge of carriers that API and workers share: SMPP, HTTP, error codes, receipts."""
