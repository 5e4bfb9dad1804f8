"""The operator API under `/operator/v1`, one package per theme. Importing this package declares its endpoints."""
# ruff: noqa: F401

import api.operator.auth.routes  # isort: skip - the reference begins with tokens
import api.operator.accounts.routes
import api.operator.carriers.routes
import api.operator.changes.routes
import api.operator.doubts.routes
import api.operator.inbound.routes
import api.operator.installation.routes
import api.operator.keys.routes
import api.operator.limits.routes
import api.operator.margin.routes
import api.operator.messages.routes
import api.operator.money.routes
import api.operator.prices.routes
import api.operator.queue.routes
import api.operator.senders.routes
import api.operator.sends.routes
import api.operator.smpp.routes
