"""Names of accounts, which are in the texts of codes."""

import pytest

from shared.accounts.administration import check_name
from shared.accounts.refused import Refused


@pytest.mark.parametrize("name", ["Acme", "\u041a\u0438\u0457\u0432 24/7", "{{code}}"])
def test_a_name(name: str) -> None:
    check_name(name)


@pytest.mark.parametrize(
    "name", ["", " ", "Acme ", "123", "Acme (sandbox)", "A\nB", "A\aB", "A\0B", "\N{RIGHT-TO-LEFT OVERRIDE}A"]
)
def test_no_name(name: str) -> None:
    with pytest.raises(Refused):
        check_name(name)
