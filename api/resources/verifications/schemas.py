"""Schemas of verifications."""

from typing import Any

from marshmallow import ValidationError, validate, validates_schema

from api.resources.usage.schemas import Day
from api.schemas import fields
from api.schemas.base import Request, Response
from api.schemas.examples import MESSAGE_ID, PHONE, SEND_ID, VERIFICATION_ID
from api.schemas.fields import SENDER_ID_LENGTH
from api.schemas.paging import Paging
from shared.verifications import Status


def _matching(pattern: str, hint: str) -> validate.Regexp:
    return validate.Regexp(rf"{pattern}\Z", error=f"Use {hint}.")


class NewVerification(Request):
    """A phone to which a code is sent."""

    sender_id = fields.String("A sender ID of the account.", "ACME", required=True, validate=SENDER_ID_LENGTH)
    phone = fields.Phone("Digits only, starting with the country code.", PHONE, required=True)
    purpose = fields.String(
        "What the code is for. A phone number has one open verification for each purpose.",
        "sign_in",
        load_default="sign_in",
        pattern="^[A-Za-z0-9_.-]{1,40}$",
        validate=_matching("[A-Za-z0-9_.-]{1,40}", "1 to 40 letters, digits, dots, hyphens and underscores"),
    )
    language = fields.String(
        "The language of the text: `en`, `de`, `es`, `fr`, `sw`, or another one in which your account has a text.",
        "en",
        load_default="en",
    )
    web_otp_domain = fields.String(
        "The domain of the page that asks for the code: browsers then offer to enter it (WebOTP).",
        "shop.example",
        pattern=r"^[a-z0-9-]+(\.[a-z0-9-]+)+$",
        maxLength=253,
        validate=_matching(r"(?=.{1,253}\Z)[a-z0-9-]+(\.[a-z0-9-]+)+", "a domain in lower case, such as shop.example"),
    )
    sms_retriever_hash = fields.String(
        "The hash of your Android app, which can then read the code (SMS Retriever). Not with `web_otp_domain`.",
        "FA+9qCX9VSu",
        pattern="^[A-Za-z0-9+/]{11}$",
        validate=_matching("[A-Za-z0-9+/]{11}", "the 11 characters of the app's hash"),
    )

    @validates_schema
    def one_last_line(self, data: dict[str, Any], **_: Any) -> None:
        """Both need the text's last line."""
        if {"web_otp_domain", "sms_retriever_hash"} <= data.keys():
            detail = "Use either `web_otp_domain` or `sms_retriever_hash`."
            raise ValidationError({"sms_retriever_hash": {"code": "invalid", "detail": detail}})


class EnteredCode(Request):
    """A code that a person has entered."""

    code = fields.String(
        "The code as it was entered; blanks, hyphens and the script of its digits do not matter.",
        "123456",
        required=True,
        validate=fields.length(1, 40),
    )


class CheckResponse(Response):
    """The result of a check."""

    verification_id = fields.UUID("The verification.", VERIFICATION_ID, attribute="id")
    status = fields.String(
        "`approved`: the code is right. `pending`: it is awaited, or was wrong and may be entered again. Otherwise none"
        " is right any more: it is `expired`, `exhausted` by wrong ones, or `replaced` by a newer verification.",
        "approved",
        one_of=Status,
    )
    checks_left = fields.Integer("How many wrong codes may still be entered.", 5)


class VerificationResponse(CheckResponse):
    """A verification."""

    phone = fields.String("Digits only, starting with the country code; null if it was erased.", PHONE, allow_none=True)
    purpose = fields.String("What the code is for.", "sign_in")
    sends = fields.Integer("How often the code was sent.", 1)
    created_at = fields.Timestamp("When it was started.", "2026-03-02T09:00:00.120Z")
    expires_at = fields.Timestamp("Until when its code is valid.", "2026-03-02T09:10:00.120Z")
    approved_at = fields.Timestamp("When its code was entered; null if it was not.", allow_none=True)


class StartedResponse(VerificationResponse):
    """A verification whose code is being sent."""

    send_id = fields.UUID("The send of the code.", SEND_ID)
    message_id = fields.UUID("Its message.", MESSAGE_ID)
    cost = fields.Integer("The cost of the send, in credits.", 1)
    resend_at = fields.Timestamp("From when the code may be sent again.", "2026-03-02T09:00:30.120Z")


class VerificationPaging(Paging):
    """Paging through verifications."""

    phone = fields.Phone("Only those of this phone number.", PHONE)


class RatesQuery(Request):
    """Which verifications to count, and by what."""

    since = Day("The first day, in UTC; defaults to 30 days ago.", "2026-03-01")
    until = Day("The last day, in UTC; defaults to today.", "2026-03-31")
    by = fields.Choice(
        ("country", "prefix"), "By country, or all but the last six digits.", "country", load_default="country"
    )


class RateResponse(Response):
    """Verifications of one country or prefix."""

    group = fields.String("The country, by ISO 3166-1, or the prefix; null for no country.", "KE", allow_none=True)
    started = fields.Integer("Verifications.", 120)
    sends = fields.Integer("How often their codes were sent.", 131)
    approved = fields.Integer("Verifications whose code was entered.", 104)
    exhausted = fields.Integer("Those that ended by wrong checks.", 1)
    expired = fields.Integer("Those whose code was not entered in time.", 12)


class VerificationApprovedData(Response):
    """A verification whose code was entered."""

    verification_id = fields.UUID("The verification.", VERIFICATION_ID)
    purpose = fields.String("What the code is for.", "sign_in")
