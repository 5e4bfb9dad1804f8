"""The whole service on one machine: its own Postgres and Redis, the API and the workers, under one supervisor."""
