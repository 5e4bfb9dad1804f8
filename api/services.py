"""The services that endpoints use, created once per application."""

from dataclasses import dataclass, field

from celery import Celery
from redis import Redis
from sqlalchemy import Engine

from api.account_cache import AccountCache
from api.auth.oidc_attempts import OidcAttempts
from api.auth.operator_tokens import OperatorTokens
from api.auth.tokens import Tokens
from api.commit.group_commit import GroupCommit
from api.limits.password_attempts import PasswordAttempts
from api.limits.pumping_guard import PumpingGuard
from api.limits.rate_limits import Buckets, RateLimits
from api.limits.shared_token_buckets import SharedRateLimit
from shared.carriers.http.config import HttpConfig
from shared.carriers.http.file import http_carriers
from shared.db.encryption_keys import unchecked_texts_of
from shared.db.replica import Replica
from shared.encryption import Texts
from shared.oidc.provider import Provider, provider_of
from shared.people.second_factor import totp_texts
from shared.sends.recipient_counts import RecipientCounts
from shared.sends.shared_recipient_counts import RecipientSharing
from shared.settings import Settings
from shared.task_publisher import TaskPublisher


@dataclass
class Services:
    """The application's engine, tokens, limits, group commit and task publisher.

    Raises SettingsError if CARRIERS_FILE is invalid.
    """

    settings: Settings
    engine: Engine
    celery: Celery
    redis: Redis | None = None
    """Shares rate limits between API processes; without it each process counts for itself."""
    replica: Replica | None = None
    """Answers reports; without it the primary does."""
    tokens: Tokens = field(init=False)
    operator_tokens: OperatorTokens = field(init=False)
    rate_limits: RateLimits = field(init=False)
    failures: Buckets = field(init=False)
    password_attempts: PasswordAttempts = field(init=False)
    tasks: TaskPublisher = field(init=False)
    commits: GroupCommit = field(init=False)
    account_cache: AccountCache = field(init=False)
    pumping: PumpingGuard = field(init=False)
    recipients: RecipientCounts = field(init=False)
    texts: Texts = field(init=False)
    """Encrypts the texts of sends. Once its keys are checked, the accepting of a send asks the database nothing."""
    totp_texts: Texts = field(init=False)
    oidc: Provider | None = field(init=False)
    oidc_attempts: OidcAttempts = field(init=False)
    http_carriers: dict[str, HttpConfig] = field(init=False)
    """By name, to authenticate their callbacks."""

    def __post_init__(self) -> None:
        self.http_carriers = http_carriers(self.settings.carriers_file)
        self.tokens = Tokens(self.engine, self.settings.secret_key, self.settings.secret_key_fallbacks)
        self.operator_tokens = OperatorTokens(
            self.engine, self.settings.secret_key, self.settings.secret_key_fallbacks, self.tokens
        )
        self.rate_limits = RateLimits(self.settings, self.tokens.limits_of)
        self.failures = Buckets(self.settings.token_requests_per_minute / 60, burst=60)
        self.password_attempts = PasswordAttempts(self.settings.secret_key)
        self.texts = unchecked_texts_of(self.engine)
        self.totp_texts = totp_texts(self.settings.secret_key, self.settings.secret_key_fallbacks)
        self.oidc = provider_of(self.settings)
        self.oidc_attempts = OidcAttempts(self.settings.secret_key, self.settings.secret_key_fallbacks)
        self.recipients = RecipientCounts()
        if self.redis is not None:
            RecipientSharing(self.redis, self.recipients, self.settings.secret_key).start()
            shared = {
                "requests": self.rate_limits.requests,
                "sessions": self.rate_limits.of_sessions,
                "persons": self.rate_limits.of_persons,
                "failures": self.failures,
                "sign-ins": self.password_attempts.addresses,
                "emails": self.password_attempts.emails,
            }
            SharedRateLimit(self.redis, shared).start()
        self.tasks = TaskPublisher(self.celery)
        self.commits = GroupCommit(self.engine)
        self.account_cache = AccountCache(self.engine)
        self.pumping = PumpingGuard()
