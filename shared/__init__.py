"""What the API and the workers share: schema, ledger, lifecycle, texts, tasks."""
