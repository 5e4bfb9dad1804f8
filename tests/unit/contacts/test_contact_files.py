"""Files of contacts as programs write them: the tables of docs/reference/what-we-read.md."""

import pytest

from shared.contacts.charsets import encoding_named, is_western
from shared.contacts.columns import NoContacts, read_columns
from shared.contacts.csv import Checkpoint, ContactReader
from shared.contacts.groups import Contact
from shared.contacts.tags import cell_of, tags_of
from shared.contacts.text_stream import text_chunks
from shared.sms.numbering import numbering_of
from tests.harness.what_we_read import table

Row = dict[str, str]


def of_rows(caption: str) -> pytest.MarkDecorator:
    rows = table(caption)
    return pytest.mark.parametrize("row", rows, ids=[next(iter(row.values())) for row in rows])


def read(text: str, country: str = "", checkpoint: Checkpoint | None = None) -> tuple[ContactReader, list[int]]:
    """The reader after a file without rejected rows, and the phones."""
    reader = ContactReader(numbering_of(country or None), checkpoint)
    contacts, rejected = reader.read(text, True)
    assert rejected == []
    return reader, [contact.phone for contact in contacts]


@of_rows("Columns and cells")
def test_the_phones_are_found(row: Row) -> None:
    _, phones = read(row["File"], row["Country"])
    assert ", ".join(map(str, phones)) == row["Read as"]


@of_rows("Columns that a person names")
def test_a_file_is_refused_where_its_column_is_not_certain(row: Row) -> None:
    with pytest.raises(NoContacts) as refused:
        read(row["File"], row["Country"])
    assert ", ".join(str(each.number) for each in refused.value.candidates) == row["Columns"]
    assert all(1 <= len(each.values) <= 3 for each in refused.value.candidates)
    assert not any(value in str(refused.value) for each in refused.value.candidates for value in each.values)


@pytest.mark.parametrize(
    ("own", "other"),
    [
        ("Client Phone", "Guarantor Mobile"),
        ("Phone Number", "Loan Officer Mobile"),
        ("Parent Phone", "Teacher Mobile"),
        ("Phone", "Driver Mobile"),
        ("Phone", "Old Mobile"),
    ],
)
def test_a_mobile_phone_that_may_be_of_another_person_is_not_taken(own: str, other: str) -> None:
    with pytest.raises(NoContacts) as refused:
        read(f"Name,{own},Balance,Guarantor,{other}\nAnn,0711000301,500,Ben,0722000302\n", "KE")
    assert [each.name for each in refused.value.candidates] == [own, other]
    _, phones = read(f"Name,{own},{other}\nAnn,0711000301,0711000301\nBen,0711000302,\n", "KE")
    assert phones == [254711000301, 254711000302], "all rows agree"


@pytest.mark.parametrize("name", ["Person - Phone - Mobile", "Client Mobile", "Work Mobile", "Mobile 2"])
def test_another_mobile_phone_of_the_person_is_taken(name: str) -> None:
    assert read(f"Phone,{name}\n0722000302,0711000301\n", "KE")[1] == [254711000301]


@pytest.mark.parametrize(
    ("own", "other"),
    [
        ("Número de móvil", "Teléfono"),
        ("Número de celular", "Telefone"),
        ("N° de portable", "Téléphone"),
        ("Mobile (Safaricom)", "Alt Phone"),
        ("Best mobile", "Emergency Contact Phone"),
        ("Student Cell", "Parent Cell"),
        ("Member Mobile", "Next of Kin Phone"),
        ("Phone", "Next of Kin Mobile"),
    ],
)
def test_a_phone_that_is_a_second_choice_raises_no_question(own: str, other: str) -> None:
    assert read(f"Name;{own};{other}\nAnn;0711000301;0722000302\n", "KE")[1] == [254711000301]


@pytest.mark.parametrize(
    "above",
    [
        '"Report: Active clients"\n"As of 2026-11-26"\n\n',
        "Contacts report 26.11.2026,,\n",
        ",Contact,,SMS\n",
        "Phones of our clients,,\n",
    ],
)
@pytest.mark.parametrize("delimiter", [",", ";"])
def test_titles_above_the_names_are_passed_over(above: str, delimiter: str) -> None:
    reader = ContactReader(numbering_of("KE"))
    file = f"{above}Name,Phone,City,Opted Out\nAnn,0711000301,Kisumu,1\nBen,0711000302,Nairobi,0\n"
    contacts, rejected = reader.read(file.replace(",", delimiter), True)
    assert contacts == [Contact(254711000302, {"name": "Ben", "city": "Nairobi", "opted_out": "0"})]
    assert [each.code for each in rejected] == ["suppressed"]


@pytest.mark.parametrize(
    "file",
    [
        "0711000301,Ann\nPhone,Ben\n0711000302,Cid\n",
        "Name,Ring\nAnn,0711000301\nBen,mobile\nCid,0711000302\n",
        "Contact,Name\nno phone,Ann\n0711000301,Bob\n0711000302,Cy\n",
        "Number,Name\nno phone,Ann\n0711000301,Bob\n",
        "Name,Contact\nAnn,Mobile\nBob,0711000301\n",
    ],
)
def test_a_contact_is_no_row_of_names(file: str) -> None:
    found = read_columns(file, numbering_of("KE"))
    assert found is not None and found.first_line == 1 + found.has_names


@of_rows("Tags")
def test_tags_are_read(row: Row) -> None:
    tags = row["Tags"].split(" · ")
    assert tags_of(row["Cell"]) == tags == tags_of(cell_of(tags))


@of_rows("Charsets")
def test_a_charset_is_known_by_its_names(row: Row) -> None:
    content = f"phone,name\n254711000301,{row['Text']}\n"
    encoded = content.encode(row["Codec"])
    assert "".join(text_chunks([encoded[:40], encoded[40:]], encoding_named(row["Charset"]))) == content


@pytest.mark.parametrize(
    "charset", ["utf-7", "cp-1252", "rot13", "undefined", "idna", "base64", "os", "é", "", "x" * 999]
)
def test_no_other_charset_is_known(charset: str) -> None:
    assert encoding_named(charset) is None


@of_rows("Windows-1252 or not")
def test_a_guess_is_told_from_a_certain_charset(row: Row) -> None:
    assert is_western(row["Text"]) is (row["Western"] == "yes")


def test_what_a_contact_has_no_room_for_is_cut_and_told() -> None:
    names = ",".join(f"f{number}" for number in range(35))
    rows = [",".join(["254711000301", ",".join(["x"] * 35), "a;b"])]
    rows.append(
        ",".join(["254711000302 / 0711000303", "y" * 256, "," * 33, ";".join(f"t{number}" for number in range(21))])
    )
    rows.append(",".join(["255740000000", "z", "," * 33, "t" * 51]))
    text = "\n".join([f"phone,{names},tags", *rows])
    reader = ContactReader(numbering_of("KE"))
    contacts, rejected = reader.read(text, True)
    found = reader.checkpoint
    assert [len(contact.fields or ()) for contact in contacts] == [30, 1, 1]
    assert [len(contact.tags or ()) for contact in contacts] == [2, 20, 1]
    assert (rejected, found.phone_column) == ([], "phone")
    assert found.fields_left == [f"f{number}" for number in range(30, 35)]
    assert found.notes == {"several_phones": [1, 3], "value_cut": [1, 3], "tags_left": [1, 3], "tag_cut": [1, 4]}
    assert found.countries == {"KE": 2, "TZ": 1}


@pytest.mark.parametrize(("count", "fits"), [(30, True), (31, False)])
def test_a_person_names_thirty_fields_at_most(count: int, fits: bool) -> None:
    names = [f"f{number}" for number in range(40)]
    found = read_columns(f"phone,{','.join(names)}\n254711000301{',x' * 40}\n", numbering_of(None))
    assert found is not None
    if fits:
        assert found.fields({0}, names[-count:]) == {name: names.index(name) + 1 for name in names[-count:]}
        return
    with pytest.raises(NoContacts) as refused:
        found.fields({0}, names[-count:])
    assert refused.value.parameter == "fields"


def test_a_fax_of_google_contacts_is_no_phone() -> None:
    names = "Name,Phone 1 - Label,Phone 1 - Value,Phone 2 - Label,Phone 2 - Value"
    file = f"{names}\nAnn,Work Fax,+1 323-555-0124,Main,+1 323-555-0123\nBen,Pager,+1 323-555-0125,,\n"
    contacts, rejected = ContactReader(numbering_of("US")).read(file, True)
    assert [each.phone for each in contacts] == [13235550123]
    assert [(each.line, each.detail) for each in rejected] == [(3, "The row has only a fax or pager.")]


@pytest.mark.parametrize("name", ["SMS ID", "Phone Fax", "Mobile Country Code", "Phone Type", "Telefax", "Pager"])
def test_a_number_beside_a_phone_is_none(name: str) -> None:
    _, phones = read(f"{name},Phone\n10002345678,254711000301\n")
    assert phones == [254711000301]
