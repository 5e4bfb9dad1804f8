"""Files that say who has opted out, and who has not agreed to get messages."""

import pytest

from shared.contacts.csv import Checkpoint, ContactReader
from shared.sms.numbering import numbering_of
from tests.harness.what_we_read import table
from tests.unit.contacts.test_contact_files import read


def test_contacts_who_have_not_agreed_are_told() -> None:
    (shop,) = [row for row in table("Exports of address books") if row["Program"] == "Shopify"]
    assert read(shop["File"])[0].checkpoint.notes == {"no_consent": [1, 2], "other_column": [1, 3]}


@pytest.mark.parametrize("value", ["NEVER_SUBSCRIBED", "Not Subscribed", "FALSCH", "n", "revoked"])
def test_consent_is_refused_in_these_words_too(value: str) -> None:
    """Klaviyo and Shopify, and FALSE as a German Excel writes it."""
    assert read(f"Phone,SMS Consent\n254711000301,{value}\n")[0].checkpoint.notes == {"no_consent": [1, 2]}


@pytest.mark.parametrize("name", ["SMS Marketing", "SMS Permission", "Consent", "Mobile Opt-In", "Optin SMS"])
def test_consent_has_these_names_too(name: str) -> None:
    assert read(f"Phone,Subscribed,{name}\n254711000301,yes,no\n")[0].checkpoint.notes == {"no_consent": [1, 2]}


def test_consent_to_texts_comes_before_any_other() -> None:
    assert read("Phone,Subscribed,SMS Consent\n254711000301,no,yes\n")[0].checkpoint.notes == {}


def test_who_has_opted_out_in_one_row_is_no_contact_in_a_later_chunk() -> None:
    reader = ContactReader(numbering_of(None))
    reader.read("Phone,Opted Out\n254711000301,yes\n", False)
    reader = ContactReader(numbering_of(None), Checkpoint(**reader.checkpoint.as_dict()))
    contacts, _ = reader.read("254711000301,no\n254711000302,no\n", True)
    assert [each.phone for each in contacts] == [254711000302]
    assert "opted_out" not in reader.checkpoint.as_dict(), "nothing is kept when the file has ended"


@pytest.mark.parametrize("name", ["Nº SMS", "№ SMS", "No SMS"])
def test_a_column_of_phones_is_none_of_opt_outs(name: str) -> None:
    assert read(f"{name},Name\n254711000301,Ann\n")[1] == [254711000301]


@pytest.mark.parametrize(
    ("name", "value", "rejected"),
    [
        ("OptedOut", "y", True),  # Mongoose: yes, true, y and 1, or no, false, n and 0
        ("OptedOut", "n", False),
        ("Opted Out", "TRUE", True),
        ("Opted Out", "✓", True),
        ("Opted Out", "0", False),
        ("Opted Out", "FALSCH", False),
        *(("Opted Out", value, False) for value in ("#N/A", "#NV", "#N/D", "#REF!", "#¡REF!")),  # of a VLOOKUP
        ("SMS Consent", "UNSUBSCRIBED", True),
        ("Subscribed", "No", False),
        ("SMS Stop", "yes", True),
        ("Stop", "3", False),  # of a bus or a delivery round
        ("Opt Out Date", "0000-00-00 00:00:00", False),
        ("SMSOptOut,Do Not Contact", "FALSE,TRUE", True),
        ("Has Opted Out of SMS", "true", True),
        ("SMS Opt-Out", "1", True),
        ("Opt Out Date", "2026-11-28", True),
        ("Opt Out Date", "", False),
        ("Opt-Out Status", "Opted In", False),
        ("Unsubscribed", "x", True),
        ("Email Opt Out", "1", False),  # Salesforce, Zoho CRM
        ("Has Opted Out Of Email", "true", False),
        ("Unsubscribe Link", "https://example.com/u/1", False),
        ("Opt Out", "USANN", False),  # FALSE, as a Norwegian Excel writes it
        ("Do Not Call", "1", True),  # Salesforce: in the US, texts are calls (47 CFR 64.1200)
        ("Text Message Opt Out", "Yes", True),
        ("Opt Out (Y/N)", "Y", True),
        ("SMS unsubscribed at (UTC)", "2026-11-28 10:00:00", True),
        ("Abgemeldet am", "28.11.2026", True),
        ("Désinscrit", "oui", True),
        ("Fecha de baja", "28/11/2026", True),
        ("E-Mail abgemeldet", "ja", False),
        ("SMS and Email Opt Out", "1", True),
        ("WhatsApp Opt Out", "1", False),
        ("Alta/Baja", "Alta", False),
        ("Planta baja", "3", False),
        ("wypisany", "nie", False),
        ("Baja", "00/00/0000", False),
        ("SMS Subscription Status", "Opted out", True),
        ("Subscribed,SMS Status", "yes,unsubscribed", True),  # the first one is of e-mail
        *((name, "Unsubscribed", True) for name in ("Status", "Contact Status", "Phone Number Status", "SMS Status")),
        *((name, "unsubscribed", True) for name in ("Subscriber Status", "Subscription", "SMS Marketing", "smsStatus")),
        ("Opt-in Status", "Opted Out", True),
        ("SMS Opt-In Status", "Opted Out", True),
        *(("SMS Status", value, True) for value in ("Unsubscribe", "STOP", "blocked", "blacklisted")),
        ("SMS Status", "delivered", False),
        ("Status", "blocked", False),  # for another reason
        ("Email Status", "unsubscribed", False),
        ("Email Marketing Status", "unsubscribed", False),
        *((name, "true", True) for name in ("SMS_Opt_Out__c", "SMSOptOut__c", "HasOptedOutOfSMS__c")),  # Salesforce
        *((name, "true", True) for name in ("et4ae5__HasOptedOutOfMobile__c", "HasOptedOutOfSMS")),
        *((name, "false", False) for name in ("SMS_Opt_Out__c", "HasOptedOutOfSMS")),
        ("HasOptedOutOfEmail", "true", False),
        *((name, "1", True) for name in ("BLOCKLISTED_SMS", "SMS Blocklisted", "SMS Suppressed")),  # Brevo and others
        *((name, "yes", True) for name in ("No SMS", "No Marketing", "Consent Revoked", "Messaging opt out")),
        *((name, "12", False) for name in ("No. SMS", "Nº SMS", "No SMS", "Nº marketing")),
        ("№ SMS", "none yet", False),
        ("No SMS", "false", False),
        ("Global Unsubscribe", "true", True),
        ("SMS Stop Date", "2026-11-28", True),
        ("Start Date,Stop Date", "2026-01-01,2026-12-31", False),  # of a contract
        ("Bestellung,Widerruf", "7,2026-01-01", False),  # of an order
        *((name, "ja", True) for name in ("Werbesperre", "Werbewiderruf")),
        *((name, "nein", False) for name in ("Werbesperre", "Werbewiderruf")),
        ("Statut", "Désinscrit", True),
        ("Estado", "Baja", True),
        ("Status", "Abgemeldet", True),
    ],
)
def test_who_has_opted_out_elsewhere_is_no_contact(name: str, value: str, rejected: bool) -> None:
    reader = ContactReader(numbering_of(None))
    contacts, rows = reader.read(f"Phone,{name}\n254711000301,{value}\n254711000302,\n", True)
    assert reader.opted_out == ({254711000301} if rejected else set())
    assert [each.code for each in rows] == ["suppressed"] * rejected
    assert [each.phone for each in contacts] == [254711000301, 254711000302][rejected:]
