"""What is wrong with a file of contacts, in the reader's words."""

import pytest

from console.pages.file_errors import FILE_ERRORS
from shared.contacts.csv import ContactReader, NoContacts
from shared.sms.numbering import numbering_of


def test_a_file_without_phone_numbers_is_known() -> None:
    with pytest.raises(NoContacts) as refused:
        ContactReader(numbering_of(None)).read("customer,city\n254711000001,Nairobi\n", True)
    assert any(pattern.fullmatch(str(refused.value)) for pattern, _ in FILE_ERRORS), str(refused.value)
