"""What opts a phone out or in, and what does not."""

import pytest

from shared.inbound import Keyword, keyword_of
from shared.inbound.keywords import MAX_OTHER_WORDS, MAX_READ
from tests.harness.what_we_read import table


@pytest.mark.parametrize(
    "text",
    [
        *("STOP", "stop", " Stop. ", "STOP!", "'stop'", "\nStop\n", "STOP ALL", "stop-all", "StopAll", "UNSUBSCRIBE"),
        *("ARRET", "Arrêt", "arrêter", "PARAR", "HALT", "ACHA", "acha!", "SAIR", "Abmelden", "İPTAL", "ıptal", "BAJA"),
        *("стоп", "СТОП.", "στοπ", "إيقاف", "停止", "停止。", "수신거부", "रोकें", "ＳＴＯＰ", "STOP 🙏", "«стоп»"),
        "STOP" + "!" * 56,
    ],
)
def test_a_word_that_opts_out(text: str) -> None:
    assert keyword_of(text) is Keyword.STOP


@pytest.mark.parametrize("sent_to", ["ACME", "22395", "254204000000"])
@pytest.mark.parametrize(("phone", "said"), [("254711000001", Keyword.STOP), ("919812345678", Keyword.POSSIBLE_STOP)])
def test_acha_is_swahili_for_stop_and_hindi_for_okay(sent_to: str, phone: str, said: Keyword) -> None:
    assert keyword_of("Acha, thanks", sent_to, phone) is said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("I did not sign up for this, stop texting me", Keyword.POSSIBLE_STOP),
        ("I never signed up stop texting me", Keyword.POSSIBLE_STOP),
        ("I'm not John, please stop", Keyword.POSSIBLE_STOP),
        ("Ich bin nicht interessiert, STOP", Keyword.POSSIBLE_STOP),
        ("Nicht interessiert, bitte abmelden", Keyword.STOP),
        ("Non merci stop", Keyword.STOP),
        ("I'm fine, don't stop", None),
        ("I am not happy with the shop but please don't stop texting", None),
        ("I can't come tomorrow, cancel", None),
    ],
)
def test_a_negation_hides_no_request_that_it_is_not_about(text: str, said: Keyword | None) -> None:
    assert keyword_of(text) is said


@pytest.mark.parametrize("text", ["START", "start!", "Unstop", "COMEÇAR", "anza", "СТАРТ", "ابدأ", "开始"])
def test_a_word_that_opts_in(text: str) -> None:
    assert keyword_of(text) is Keyword.START


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "!", "don't stop", "nonstop", "ST OP", "yes", "no"),
        *("The end", "0", "STOP" * 1000, "halt mich auf dem Laufenden", "s\u0000top", "🙏"),
    ],
)
def test_a_text_that_is_not_a_keyword(text: str) -> None:
    assert keyword_of(text) is None


def test_a_text_that_is_not_read_to_its_end_is_no_certain_opt_out() -> None:
    whole = "STOP" + "!" * (MAX_READ - 4)
    assert (keyword_of(whole), keyword_of(whole + "!")) == (Keyword.STOP, Keyword.POSSIBLE_STOP)


def test_a_long_text_opts_nobody_in() -> None:
    assert (keyword_of("START" + "!" * 55), keyword_of("START" + "!" * 56)) == (Keyword.START, None)


def test_a_request_among_many_other_words_is_none() -> None:
    assert keyword_of(" ".join(["word"] * MAX_OTHER_WORDS + ["stop texting"])) is Keyword.POSSIBLE_STOP
    assert keyword_of(" ".join(["word"] * (MAX_OTHER_WORDS + 1) + ["stop texting"])) is None


@pytest.mark.parametrize("row", table("Opt-outs"), ids=lambda row: row["Text"])
def test_a_text_asks_for_what_the_page_says(row: dict[str, str]) -> None:
    outcomes = {"opt-out": Keyword.STOP, "possible": Keyword.POSSIBLE_STOP, "none": None}
    assert keyword_of(row["Text"], "ACME", "254711000001") is outcomes[row["Outcome"]]


@pytest.mark.parametrize(("text", "sent_to"), [("STOP ACME-Shop", "ACME-Shop"), ("stop 36111", "36111")])
def test_the_senders_own_name_or_number_may_follow(text: str, sent_to: str) -> None:
    assert (keyword_of(text, sent_to), keyword_of(text, "OTHER")) == (Keyword.STOP, Keyword.POSSIBLE_STOP)


@pytest.mark.parametrize("text", ["STOP +254 204 000 001", "stop 00254204000001", "Stop (0204) 000-001, please"])
def test_the_own_number_may_be_written_in_any_way(text: str) -> None:
    assert (keyword_of(text, "254204000001"), keyword_of(text)) == (Keyword.STOP, Keyword.POSSIBLE_STOP)


def test_an_own_name_may_be_a_word_that_leads_elsewhere() -> None:
    assert (keyword_of("STOP LIGHT", "Light"), keyword_of("stop light", "ACME")) == (Keyword.STOP, None)
