"""People who sign in: their memberships of accounts, invitations, sessions, and ways to sign in."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
    Uuid,
    text,
)

from shared.db.tables.base import MOMENT, NOW, metadata

ROLE_IS_KNOWN = "role IN ('owner', 'sender', 'viewer')"
OPERATOR_ROLE_IS_KNOWN = "operator_role IN ('admin', 'support')"

person = Table(
    "person",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("email", Text, unique=True, comment="in lower case; null: erased"),
    Column("name", Text, nullable=False),
    Column("locale", Text, nullable=False, server_default="en"),
    Column("time_zone", Text, nullable=False, server_default="UTC"),
    Column("state", Text, nullable=False, server_default="active"),
    Column("operator_role", Text, comment="role in the installation; null: no operator"),
    Column("password_hash", Text, comment="Argon2id in its encoded form; null: none"),
    Column("totp_secret", Text, comment="encrypted; null: TOTP is off"),
    Column("totp_pending", Text, comment="encrypted; a secret that no code has confirmed yet"),
    Column("totp_step", BigInteger, comment="time step of the last code used; older codes are refused"),
    Column("created_at", MOMENT, nullable=False, server_default=NOW),
    Column("last_sign_in_at", MOMENT),
    Column("disabled_at", MOMENT),
    CheckConstraint("state IN ('active', 'disabled')", name="state"),
    CheckConstraint("(state = 'disabled') = (disabled_at IS NOT NULL)", name="disabled_at"),
    CheckConstraint("email = lower(email) AND (email IS NOT NULL OR state = 'disabled')", name="email"),
    CheckConstraint(OPERATOR_ROLE_IS_KNOWN, name="operator_role"),
    Index("ix_person_disabled_at", "disabled_at", postgresql_where=text("disabled_at IS NOT NULL")),
    comment="people who sign in",
)

recovery_code = Table(
    "recovery_code",
    metadata,
    Column("person_id", Uuid, ForeignKey("person.id"), nullable=False),
    Column("code_hash", LargeBinary, nullable=False),
    PrimaryKeyConstraint("person_id", "code_hash"),
    comment="codes that replace a TOTP code once; a used one is deleted",
)

person_identity = Table(
    "person_identity",
    metadata,
    Column("issuer", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("person_id", Uuid, ForeignKey("person.id"), nullable=False),
    Column("created_at", MOMENT, nullable=False, server_default=NOW),
    PrimaryKeyConstraint("issuer", "subject"),
    UniqueConstraint("person_id", "issuer"),
    comment="who people are at an OpenID Connect provider",
)

membership = Table(
    "membership",
    metadata,
    Column("account_id", BigInteger, ForeignKey("account.id"), nullable=False),
    Column("person_id", Uuid, ForeignKey("person.id"), nullable=False),
    Column("role", Text, nullable=False),
    Column("created_at", MOMENT, nullable=False, server_default=NOW),
    Column(
        "version", Integer, nullable=False, server_default=text("1"), comment="rises with each change; tokens name it"
    ),
    Column("changed_at", MOMENT, nullable=False, server_default=NOW),
    Column("ended_at", MOMENT),
    PrimaryKeyConstraint("account_id", "person_id"),
    CheckConstraint(ROLE_IS_KNOWN, name="role"),
    Index("ix_membership_person_id", "person_id"),
    Index("ix_membership_changed_at", "changed_at"),
    comment="people in accounts, with their roles; an ended one stays",
)

invitation = Table(
    "invitation",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("email", Text, nullable=False),
    Column("account_id", BigInteger, ForeignKey("account.id")),
    Column("role", Text),
    Column("operator_role", Text),
    Column("token_hash", LargeBinary, nullable=False, unique=True),
    Column("invited_by", Text, nullable=False, comment="an API key, a person or an operator"),
    Column("created_at", MOMENT, nullable=False, server_default=NOW),
    Column("expires_at", MOMENT, nullable=False),
    Column("ended_at", MOMENT, comment="when it was accepted, revoked or replaced"),
    CheckConstraint("email = lower(email)", name="email"),
    CheckConstraint("(account_id IS NULL) = (role IS NULL)", name="account_id"),
    CheckConstraint("role IS NOT NULL OR operator_role IS NOT NULL", name="purpose"),
    CheckConstraint(ROLE_IS_KNOWN, name="role"),
    CheckConstraint(OPERATOR_ROLE_IS_KNOWN, name="operator_role"),
    Index("ix_invitation_account_id_id", "account_id", "id"),
    Index("ix_invitation_expires_at", "expires_at"),
    comment="invitations by link, for an account, for an operator role, or both",
)

sign_in_link = Table(
    "sign_in_link",
    metadata,
    Column("token_hash", LargeBinary, primary_key=True),
    Column("person_id", Uuid, ForeignKey("person.id"), nullable=False, index=True),
    Column("expires_at", MOMENT, nullable=False, index=True),
    comment="links that sign a person in once; a used one is deleted",
)

person_session = Table(
    "person_session",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("person_id", Uuid, ForeignKey("person.id"), nullable=False),
    Column("token_hash", LargeBinary, nullable=False, unique=True),
    Column("created_at", MOMENT, nullable=False, server_default=NOW),
    Column("last_used_at", MOMENT, nullable=False, server_default=NOW),
    Column("expires_at", MOMENT, nullable=False, index=True),
    Column("ended_at", MOMENT, index=True),
    Column("by_link", Boolean, nullable=False, comment="begun by a link, without the password"),
    Column("address", Text),
    Column("network", Text, comment="the block of addresses of one client that the address is in"),
    Column("user_agent", Text),
    Index("ix_person_session_person_id_id", "person_id", "id"),
    comment="sessions of people who signed in",
)
