"""What is wrong with a file of contacts, in the reader's words."""

import pytest

from console.pages.file_errors import FILE_ERRORS
from shared.contacts.csv import ContactReader, NoContacts
from shared.sms.numbering import numbering_of


@pytest.mark.parametrize(
    "text", ["customer,city\n254711000001,Nairobi\n", 'phone,"name\n'], ids=["no phone numbers", "no CSV"]
)
def test_an_error_of_the_api_is_known(text: str) -> None:
    with pytest.raises(NoContacts) as refused:
        ContactReader(numbering_of(None)).read(text, True)
    assert any(pattern.fullmatch(str(refused.value)) for pattern, _ in FILE_ERRORS), str(refused.value)
