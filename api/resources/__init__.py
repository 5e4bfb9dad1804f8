"""One package per resource. Importing this package declares all endpoints."""
# ruff: noqa: F401

import api.resources.sms.routes  # isort: skip - the reference begins with sending
import api.resources.api_keys.routes
import api.resources.auth.routes
import api.resources.balance.routes
import api.resources.changes.routes
import api.resources.contacts.routes
import api.resources.deliveries.routes
import api.resources.errors.routes
import api.resources.events.routes
import api.resources.exports.routes
import api.resources.groups.routes
import api.resources.imports.routes
import api.resources.inbound.routes
import api.resources.invitations.acceptance
import api.resources.invitations.routes
import api.resources.limits.routes
import api.resources.me.credentials
import api.resources.me.routes
import api.resources.me.tokens
import api.resources.messages.routes
import api.resources.oidc.routes
import api.resources.people.routes
import api.resources.prices.routes
import api.resources.privacy.routes
import api.resources.sandbox.routes
import api.resources.sender_ids.routes
import api.resources.sends.errors
import api.resources.sends.rejected
import api.resources.sends.routes
import api.resources.sign_in.routes
import api.resources.smpp_credentials.routes
import api.resources.statements.routes
import api.resources.suppressions.routes
import api.resources.usage.routes
import api.resources.verifications.routes
import api.resources.webhooks.routes
