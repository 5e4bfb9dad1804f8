"""The facts that the API and the workers must agree on: schema, money, lifecycle, text, tasks."""
