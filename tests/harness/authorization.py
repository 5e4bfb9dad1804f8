"""Who may use each route: the specification, written by hand and derived from nothing.

A line of a table is a method, a path, the scopes that a token needs, and the roles of people who have them. In place of
scopes, `any` is any token, `session` the token of a person's session, and `open` no token at all. Among
operators, `support-with-reason` is support that has given a reason, which is recorded; it may do what support may.

A new route fails tests/unit/project/test_guards.py until it has its line.
"""

from typing import NamedTuple

from api.operations import Api, Endpoint

CUSTOMER_ROUTES = """
GET    /api-keys                                                       keys:read          owner
POST   /api-keys                                                       keys:write         owner
DELETE /api-keys/<key_id>                                              keys:write         owner
POST   /api-keys/<key_id>/rotate                                       keys:write         owner
POST   /auth/revoke                                                    any                owner sender viewer
POST   /auth/token                                                     open
GET    /balance                                                        balance:read       owner sender viewer
GET    /balance/transactions                                           balance:read       owner sender viewer
GET    /changes                                                        people:read        owner
GET    /erasures                                                       privacy:write      owner
POST   /erasures                                                       privacy:write      owner
GET    /erasures/<uuid:erasure_id>                                     privacy:write      owner
GET    /errors                                                         open
GET    /errors/<code>                                                  open
GET    /events                                                         webhooks:read      owner sender viewer
GET    /exports                                                        sms:read           owner sender viewer
POST   /exports                                                        sms:read           owner sender viewer
DELETE /exports/<uuid:export_id>                                       sms:read           owner sender viewer
GET    /exports/<uuid:export_id>                                       sms:read           owner sender viewer
GET    /exports/<uuid:export_id>/file                                  sms:read           owner sender viewer
GET    /groups                                                         groups:read        owner sender viewer
POST   /groups                                                         groups:write       owner sender
DELETE /groups/<uuid:group_id>                                         groups:write       owner sender
GET    /groups/<uuid:group_id>                                         groups:read        owner sender viewer
PATCH  /groups/<uuid:group_id>                                         groups:write       owner sender
DELETE /groups/<uuid:group_id>/contacts                                groups:write       owner sender
GET    /groups/<uuid:group_id>/contacts                                groups:read        owner sender viewer
POST   /groups/<uuid:group_id>/contacts                                groups:write       owner sender
POST   /groups/<uuid:group_id>/import                                  groups:write       owner sender
GET    /imports                                                        groups:read        owner sender viewer
GET    /imports/<uuid:import_id>                                       groups:read        owner sender viewer
POST   /imports/<uuid:import_id>/cancel                                groups:write       owner sender
GET    /imports/<uuid:import_id>/errors                                groups:read        owner sender viewer
GET    /inbound                                                        sms:read           owner sender viewer
GET    /invitations                                                    people:read        owner
POST   /invitations                                                    people:write       owner
DELETE /invitations/<uuid:invitation_id>                               people:write       owner
POST   /invitations/accept                                             open
POST   /invitations/preview                                            open
GET    /limits                                                         any                owner sender viewer
GET    /me                                                             session
PATCH  /me                                                             session
POST   /me/operator-token                                              session
POST   /me/password                                                    session
GET    /me/sessions                                                    session
DELETE /me/sessions/<uuid:session_id>                                  session
POST   /me/sign-out                                                    session
POST   /me/token                                                       session
POST   /me/totp                                                        session
POST   /me/totp/confirm                                                session
POST   /me/totp/disable                                                session
GET    /messages                                                       sms:read           owner sender viewer
GET    /messages/<uuid:message_id>                                     sms:read           owner sender viewer
POST   /messages/<uuid:message_id>/cancel                              sms:send+sms:read  owner sender
GET    /messages/<uuid:message_id>/events                              sms:read           owner sender viewer
GET    /people                                                         people:read        owner
DELETE /people/<uuid:person_id>                                        people:write       owner
PATCH  /people/<uuid:person_id>                                        people:write       owner
GET    /prices                                                         balance:read       owner sender viewer
POST   /sandbox/refill                                                 sms:send           owner sender
GET    /sender-ids                                                     senders:read       owner sender viewer
POST   /sender-ids                                                     senders:write      owner
DELETE /sender-ids/<uuid:sender>                                       senders:write      owner
GET    /sends                                                          sms:read           owner sender viewer
GET    /sends/<uuid:send_id>                                           sms:read           owner sender viewer
PATCH  /sends/<uuid:send_id>                                           sms:send+sms:read  owner sender
POST   /sends/<uuid:send_id>/cancel                                    sms:send+sms:read  owner sender
GET    /sends/<uuid:send_id>/errors                                    sms:read           owner sender viewer
GET    /sends/<uuid:send_id>/messages                                  sms:read           owner sender viewer
POST   /sends/<uuid:send_id>/pause                                     sms:send+sms:read  owner sender
GET    /sends/<uuid:send_id>/rejected                                  sms:read           owner sender viewer
POST   /sends/<uuid:send_id>/resume                                    sms:send+sms:read  owner sender
POST   /sign-in                                                        open
POST   /sign-in/link                                                   open
GET    /sign-in/methods                                                open
POST   /sign-in/oidc                                                   open
POST   /sign-in/oidc/complete                                          open
POST   /sms/quote                                                      sms:send           owner sender
POST   /sms/send                                                       sms:send           owner sender
POST   /sms/send-bulk                                                  sms:send           owner sender
POST   /sms/send-group                                                 sms:send           owner sender
GET    /smpp-credentials                                              keys:read          owner
POST   /smpp-credentials                                              keys:write         owner
DELETE /smpp-credentials/<uuid:credential_id>                         keys:write         owner
PATCH  /smpp-credentials/<uuid:credential_id>                         keys:write         owner
POST   /smpp-credentials/<uuid:credential_id>/replay                  keys:write         owner
POST   /smpp-credentials/<uuid:credential_id>/rotate                  keys:write         owner
GET    /statements                                                     balance:read       owner sender viewer
GET    /statements/<month>                                             balance:read       owner sender viewer
GET    /suppressions                                                   suppressions:read  owner sender viewer
POST   /suppressions                                                   suppressions:write owner sender
DELETE /suppressions/<phone:phone>                                     suppressions:write owner sender
POST   /suppressions/import                                            suppressions:write owner sender
GET    /usage                                                          sms:read           owner sender viewer
GET    /verifications                                                  sms:read           owner sender viewer
POST   /verifications                                                  sms:send           owner sender
GET    /verifications/<uuid:verification_id>                           sms:read           owner sender viewer
POST   /verifications/<uuid:verification_id>/check                     sms:send           owner sender
GET    /verifications/rates                                            sms:read           owner sender viewer
GET    /webhooks                                                       webhooks:read      owner sender viewer
POST   /webhooks                                                       webhooks:write     owner
DELETE /webhooks/<uuid:webhook_id>                                     webhooks:write     owner
GET    /webhooks/<uuid:webhook_id>                                     webhooks:read      owner sender viewer
PATCH  /webhooks/<uuid:webhook_id>                                     webhooks:write     owner
GET    /webhooks/<uuid:webhook_id>/deliveries                          webhooks:read      owner sender viewer
POST   /webhooks/<uuid:webhook_id>/deliveries/<uuid:event_id>/replay   webhooks:write     owner
POST   /webhooks/<uuid:webhook_id>/recover                             webhooks:write     owner
POST   /webhooks/<uuid:webhook_id>/rotate-secret                       webhooks:write     owner
POST   /webhooks/<uuid:webhook_id>/test                                webhooks:write     owner
"""
OPERATOR_ROUTES = """
GET    /accounts                                                       read               admin support
POST   /accounts                                                       accounts           admin
GET    /accounts/<int:account_id>                                      read               admin support
PATCH  /accounts/<int:account_id>                                      accounts           admin
POST   /accounts/<int:account_id>/activate                             accounts           admin
POST   /accounts/<int:account_id>/adjustments                          money              admin
GET    /accounts/<int:account_id>/api-keys                             read               admin support
POST   /accounts/<int:account_id>/api-keys                             accounts           admin
DELETE /accounts/<int:account_id>/api-keys/<key_id>                    accounts           admin
POST   /accounts/<int:account_id>/close                                accounts           admin
GET    /accounts/<int:account_id>/limits                               read               admin support
PATCH  /accounts/<int:account_id>/limits                               accounts           admin
POST   /accounts/<int:account_id>/messages/<uuid:message_id>/refund    money              admin
GET    /accounts/<int:account_id>/rules                                read               admin support
PATCH  /accounts/<int:account_id>/rules/<category>                     accounts           admin
POST   /accounts/<int:account_id>/sends/<uuid:send_id>/refund          money              admin
GET    /accounts/<int:account_id>/smpp-credentials                    read               admin support
POST   /accounts/<int:account_id>/smpp-credentials                    accounts           admin
DELETE /accounts/<int:account_id>/smpp-credentials/<uuid:credential_id> accounts           admin
PATCH  /accounts/<int:account_id>/smpp-credentials/<uuid:credential_id> accounts           admin
POST   /accounts/<int:account_id>/smpp-credentials/<uuid:credential_id>/replay accounts           admin
POST   /accounts/<int:account_id>/smpp-credentials/<uuid:credential_id>/rotate accounts           admin
GET    /accounts/<int:account_id>/statements                           read               admin support
GET    /accounts/<int:account_id>/statements/<month>                   read               admin support
POST   /accounts/<int:account_id>/suspend                              accounts           admin
GET    /accounts/<int:account_id>/top-ups                              read               admin support
POST   /accounts/<int:account_id>/top-ups                              money              admin
POST   /accounts/<int:account_id>/top-ups/<uuid:top_up_id>/reverse     money              admin
GET    /audits                                                         read               admin support
POST   /auth/token                                                     open
GET    /carrier-limits                                                 read               admin support
PATCH  /carrier-limits/<limit_name>                                    carriers           admin
GET    /carriers                                                       read               admin support
GET    /carriers/<carrier>                                             read               admin support
PATCH  /carriers/<carrier>                                             carriers           admin
POST   /carriers/<carrier>/pause                                       carriers           admin
POST   /carriers/<carrier>/reset                                       carriers           admin
POST   /carriers/<carrier>/resume                                      carriers           admin
POST   /carriers/<carrier>/test                                        carriers           admin
GET    /changes                                                        read               admin support
GET    /doctor                                                         read               admin support
GET    /doubts                                                         read               admin support
POST   /doubts/reconcile                                               doubt              admin
POST   /doubts/resolve                                                 doubt              admin
GET    /failed-jobs                                                    read               admin support
POST   /failed-jobs/retry                                              carriers           admin
GET    /guard                                                          read               admin support
POST   /guard/release                                                  carriers           admin
GET    /inbound                                                        read               admin support
POST   /inbound/assign                                                 senders            admin
GET    /inbound/numbers                                                read               admin support
GET    /margin                                                         read               admin support
GET    /messages                                                       read               admin support
GET    /messages/<uuid:message_id>                                     read               admin support
POST   /price-assignments                                              money              admin
GET    /price-lists                                                    read               admin support
POST   /price-lists                                                    money              admin
GET    /price-lists/<int:list_id>                                      read               admin support
POST   /price-lists/<int:list_id>/import                               money              admin
GET    /price-versions/<int:version_id>                                read               admin support
GET    /price-versions/<int:version_id>/prices                         read               admin support
POST   /price-versions/<int:version_id>/publish                        money              admin
POST   /price-versions/<int:version_id>/withdraw                       money              admin
GET    /pumping-findings                                               read               admin support
GET    /queue                                                          read               admin support
GET    /sender-ids                                                     read               admin support
POST   /sender-ids                                                     senders            admin
GET    /sender-ids/<uuid:sender>                                       read               admin support
PATCH  /sender-ids/<uuid:sender>                                       senders            admin
POST   /sender-ids/<uuid:sender>/approve                               senders            admin
POST   /sender-ids/<uuid:sender>/reject                                senders            admin
POST   /sender-ids/<uuid:sender>/suspend                               senders            admin
GET    /sends                                                          read               admin support
GET    /sends/<uuid:send_id>                                           read               admin support
POST   /sends/<uuid:send_id>/cancel                                    accounts           admin
POST   /sends/<uuid:send_id>/hold                                      accounts           admin
POST   /sends/<uuid:send_id>/release                                   accounts           admin
POST   /sends/<uuid:send_id>/resolve-doubts                            doubt              admin
GET    /smpp-binds                                                    read               admin support
GET    /unreadable-receipts                                            texts              admin support-with-reason
"""


class Route(NamedTuple):
    """A route and who may use it."""

    method: str
    path: str
    scopes: tuple[str, ...]
    """All of them are needed; or `any`, `session` or `open`."""
    roles: frozenset[str]

    @property
    def name(self) -> str:
        """As `METHOD /path`."""
        return f"{self.method} {self.path}"

    @property
    def needs_scopes(self) -> bool:
        """Whether a token must have certain scopes."""
        return not {"any", "session", "open"} & set(self.scopes)


def read_table(table: str) -> dict[str, Route]:
    """The routes of a table, by name."""
    lines = [line.split() for line in table.strip().splitlines()]
    routes = [Route(method, path, tuple(scopes.split("+")), frozenset(roles)) for method, path, scopes, *roles in lines]
    return {route.name: route for route in routes}


def operation_of(route: Route, api: Api) -> Endpoint:
    """The declared operation of a route."""
    return next(each for each in api.operations if (each.method, each.path) == (route.method, route.path))


CUSTOMERS = read_table(CUSTOMER_ROUTES)
OPERATORS = read_table(OPERATOR_ROUTES)
