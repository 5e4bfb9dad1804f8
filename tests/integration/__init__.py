"""Tests as a user of the product would write them: fakeredis, eager Celery, no process besides the test's own."""
