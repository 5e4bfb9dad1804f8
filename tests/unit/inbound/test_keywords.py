"""What opts a phone out or in, and what does not."""

import pytest

from shared.inbound import Keyword, keyword_of
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


def test_a_very_long_line_is_no_certain_opt_out() -> None:
    assert keyword_of("STOP" + "!" * 57) is Keyword.POSSIBLE_STOP


@pytest.mark.parametrize("row", table("Opt-outs"), ids=lambda row: row["Text"])
def test_a_text_asks_for_what_the_page_says(row: dict[str, str]) -> None:
    outcomes = {"opt-out": Keyword.STOP, "possible": Keyword.POSSIBLE_STOP, "none": None}
    assert keyword_of(row["Text"], "ACME") is outcomes[row["Outcome"]]


@pytest.mark.parametrize(("text", "sent_to"), [("STOP ACME-Shop", "ACME-Shop"), ("stop 36111", "36111")])
def test_the_senders_own_name_or_number_may_follow(text: str, sent_to: str) -> None:
    assert (keyword_of(text, sent_to), keyword_of(text, "OTHER")) == (Keyword.STOP, Keyword.POSSIBLE_STOP)
