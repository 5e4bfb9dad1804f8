"""The services that endpoints use, created once per application."""

from celery import Celery
from redis import Redis
from sqlalchemy import Engine

from api.account_cache import AccountCache
from api.auth.oidc_attempts import OidcAttempts
from api.auth.operator_tokens import OperatorTokens
from api.auth.tokens import Tokens
from api.commit.group_commit import GroupCommit
from api.event_loop import require_thread
from api.limits.bulkheads import KnownLogins
from api.limits.password_attempts import PasswordAttempts
from api.limits.pumping_guard import PumpingGuard
from api.limits.rate_limits import Buckets, RateLimits
from api.limits.shared_token_buckets import SharedRateLimit
from shared.carriers.http.file import http_carriers
from shared.db.encryption_keys import unchecked_texts_of
from shared.db.replica import Replica
from shared.oidc.provider import provider_of
from shared.people.second_factor import totp_texts
from shared.prices.book import Prices
from shared.sends.recipient_counts import RecipientCounts, RecipientSharing
from shared.settings import Settings
from shared.task_publisher import TaskPublisher
from shared.verifications import code_texts


class Services:
    """The application's engine, tokens, limits, group commit and task publisher."""

    def __init__(
        self,
        settings: Settings,
        engine: Engine,
        celery: Celery,
        redis: Redis | None = None,
        replica: Replica | None = None,
    ) -> None:
        """Raises SettingsError if CARRIERS_FILE is invalid.

        Redis shares rate limits between API processes; without it each process counts for itself. The replica answers
        reports; without it the primary does.
        """
        key, fallbacks = settings.secret_key, settings.secret_key_fallbacks
        self.settings, self.engine, self.redis, self.replica = settings, engine, redis, replica
        self.http_carriers = http_carriers(settings.carriers_file)
        """By name, to authenticate their callbacks."""
        self.tokens = Tokens(engine, key, fallbacks)
        self.operator_tokens = OperatorTokens(engine, key, fallbacks, self.tokens)
        self.rate_limits = RateLimits(settings, self.tokens.limits_of)
        self.failures = Buckets(settings.token_requests_per_minute / 60, burst=60)
        self.password_attempts = PasswordAttempts(key)
        self.known_logins = KnownLogins()
        self.texts = unchecked_texts_of(engine)
        """Encrypts the texts of sends. Once its keys are checked, the accepting of a send asks the database nothing."""
        self.totp_texts = totp_texts(key, fallbacks)
        self.codes = code_texts(key, fallbacks)
        self.oidc = provider_of(settings)
        self.oidc_attempts = OidcAttempts(key, fallbacks)
        self.recipients = RecipientCounts()
        self.tasks = TaskPublisher(celery)
        self.commits = GroupCommit(engine)
        self.account_cache = AccountCache(engine)
        self.prices = Prices(engine, may_block=require_thread)
        self.pumping = PumpingGuard()
        if redis is not None:
            self._share(redis)

    def _share(self, redis: Redis) -> None:
        """Count with the other API processes."""
        RecipientSharing(redis, self.recipients, self.settings.secret_key).start()
        shared = {
            "requests": self.rate_limits.requests,
            "sessions": self.rate_limits.of_sessions,
            "persons": self.rate_limits.of_persons,
            "failures": self.failures,
            "sign-ins": self.password_attempts.addresses,
            "emails": self.password_attempts.emails,
        }
        SharedRateLimit(redis, shared).start()
