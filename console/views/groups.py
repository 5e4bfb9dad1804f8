"""Groups, their contacts, and imports."""

from typing import Any

from bulksms_client.errors import ApiError
from flask import Blueprint, redirect, render_template, request, url_for
from flask_babel import gettext

from console.message.recipients import phones_of_list, plain_phone, with_plus
from console.pages.confirmations import done
from console.pages.csv_files import CHARSETS, FILE, download, tell_encoding, uploaded
from console.pages.formats import counted
from console.pages.forms import Form
from console.pages.paging import paging
from console.pages.rejections import IMPORT_NOTES, rejection, say_added
from console.pages.sentences import in_readers_words
from console.session.current import account, country, require

pages = Blueprint("groups", __name__, url_prefix="/groups")


@pages.get("/")
def index() -> Any:
    """All groups."""
    return render_template("groups/index.html", page=account().groups.page(**paging()), form=Form({"name": ""}))


@pages.post("/")
def create() -> Any:
    """A new group."""
    form = Form.posted()
    with form.asking():
        group = account().groups.create(form["name"].strip(), form.key)
        return redirect(url_for("groups.show", group_id=group["group_id"]))
    return render_template("groups/index.html", page=account().groups.page(**paging()), form=form), 400


@pages.get("/<uuid:group_id>")
def show(group_id: Any) -> Any:
    """One group with its contacts."""
    return _page(str(group_id))


@pages.post("/<uuid:group_id>/name")
def rename(group_id: Any) -> Any:
    """Rename a group."""
    form = Form.posted()
    with form.asking():
        account().groups.rename(str(group_id), form["name"].strip())
        return done(gettext("The group has been renamed."), "groups.show", group_id=group_id)
    return _page(str(group_id), name=form), 400


@pages.post("/<uuid:group_id>/delete")
def delete(group_id: Any) -> Any:
    """Delete a group."""
    account().groups.delete(str(group_id))
    return done(gettext("The group is deleted."), "groups.index")


@pages.post("/<uuid:group_id>/contacts")
def add_contacts(group_id: Any) -> Any:
    """Add phones that were pasted."""
    form = Form.posted({"contacts": "phones"})
    phones = [with_plus(each) for each in phones_of_list(form["phones"], country())]
    if not phones:
        form.errors["phones"] = gettext("Add at least one phone number.")
        return _page(str(group_id), contacts=form), 400
    with form.asking():
        put = account().groups.put_contacts(str(group_id), phones, form.key)
        say_added(put, counted("%(count)s contact added.", "%(count)s contacts added.", put["counts"]["added"]))
        return redirect(url_for("groups.show", group_id=group_id))
    return _page(str(group_id), contacts=form), 400


@pages.post("/<uuid:group_id>/contacts/remove")
def remove_contact(group_id: Any) -> Any:
    """Remove one phone."""
    account().groups.remove_contacts(str(group_id), ["+" + request.form["phone"].removeprefix("+")])
    return done(gettext("The contact is removed."), "groups.show", group_id=group_id)


@pages.route("/<uuid:group_id>/contact", methods=["GET", "POST"])
def contact(group_id: Any) -> Any:
    """Add one contact, or change the fields and tags of the one with the phone number in the address."""
    require("groups:write")
    shown: dict[str, Any] = {"group": account().groups.one(str(group_id))}
    named = plain_phone(request.args.get("phone", ""), country())
    known = _known(str(group_id), named)
    shown["changed"] = known["phone"]
    if request.method == "GET":
        form = Form({"phone": known["phone"], "tags": ", ".join(known["tags"])})
        form.values.setlist("field_name", [*known["fields"], *([] if "name" in known["fields"] else ["name"]), "", ""])
        form.values.setlist("field_value", [*known["fields"].values(), "", "", ""])
        return render_template("groups/contact.html", form=form, **shown)
    form = Form.posted({"contacts": "phone"})
    form.values.setdefault("phone", with_plus(named))
    put: dict[str, Any] = {"phone": plain_phone(form["phone"], country()), "fields": _fields(form), "tags": _tags(form)}
    if named and not known["phone"]:
        form.problem = gettext("The contact is no longer in the group.")
    elif named and put["phone"] != known["phone"]:
        form.problem = gettext("To change the phone number, remove the contact, and add one with the new number.")
    elif not named:
        known = _known(str(group_id), put["phone"])
        if known["phone"] and put != known:
            form.errors["phone"] = gettext("This phone number is already in the group.")
            shown["known"] = known["phone"]
    if not form.wrong:
        with form.asking():
            account().groups.put_contacts(str(group_id), [{**put, "phone": with_plus(put["phone"])}], form.key)
            return done(gettext("The contact is saved."), "groups.show", group_id=group_id)
        _name_fields(form)
    return render_template("groups/contact.html", form=form, **shown), 400


@pages.get("/<uuid:group_id>/contacts.csv")
def contacts_csv(group_id: Any) -> Any:
    """All contacts as a file."""
    return download(account().groups.contacts_csv(str(group_id)), f"group-{group_id}.csv")


@pages.post("/<uuid:group_id>/import")
def import_file(group_id: Any) -> Any:
    """Import a CSV file."""
    form = Form.posted(FILE)
    upload = uploaded(form)
    if upload is not None:
        with form.asking():
            country, column = (form.text("country") or "").upper() or None, form.text("phone_column")
            started = account().groups.import_file(
                str(group_id), upload.file, upload.length, country, upload.content_type, form.key, column
            )
            tell_encoding(upload)
            return redirect(url_for("groups.show_import", import_id=started["import_id"]))
    return _page(str(group_id), upload=form), 400


@pages.get("/imports/<uuid:import_id>")
def show_import(import_id: Any) -> Any:
    """How far an import has come, and the rows that were not imported."""
    shown = _import(import_id)
    group = account().groups.one(shown["group_id"])
    errors = account().groups.import_errors(str(import_id), **paging())
    return render_template("groups/import.html", shown=shown, group=group, errors=errors, import_notes=IMPORT_NOTES)


@pages.get("/imports/<uuid:import_id>/progress")
def import_progress(import_id: Any) -> Any:
    """The same for a page that refreshes itself. When the import has ended, the whole page is reloaded."""
    shown = _import(import_id)
    part = render_template("groups/import_progress.html", shown=shown, import_notes=IMPORT_NOTES)
    return part, 200, {} if shown["status"] in ("queued", "running") else {"HX-Refresh": "true"}


@pages.post("/imports/<uuid:import_id>/cancel")
def cancel_import(import_id: Any) -> Any:
    """Cancel an import."""
    account().groups.cancel_import(str(import_id))
    return redirect(url_for("groups.show_import", import_id=import_id))


@pages.get("/imports/<uuid:import_id>/errors.csv")
def import_errors_csv(import_id: Any) -> Any:
    """The rows that were not imported, as a file."""
    return download(account().groups.import_errors_csv(str(import_id)), f"import-errors-{import_id}.csv")


def _import(import_id: Any) -> Any:
    shown = account().groups.one_import(str(import_id))
    return {**shown, "error": in_readers_words(shown["error"]) if shown["error"] else None}


def _known(group_id: str, phone: str) -> Any:
    """The contact with a phone number; an empty one if the group has none."""
    found = []
    if phone.isascii() and phone.isdecimal():
        try:
            found = account().groups.contacts(group_id, limit=1, phone=phone)["data"]
        except ApiError as error:
            if error.code != "validation_failed":  # not a phone number, which is reported when the contact is saved
                raise
    return found[0] if found else {"phone": "", "fields": {}, "tags": []}


def _fields(form: Form) -> dict[str, str]:
    pairs = zip(form.many("field_name"), form.many("field_value"), strict=False)
    return {name.strip(): value.strip() for name, value in pairs if name.strip() and value.strip()}


def _tags(form: Form) -> list[str]:
    return [tag.strip() for tag in form["tags"].split(",") if tag.strip()]


def _name_fields(form: Form) -> None:
    """Show at its field why the only contact of the form was refused."""
    for each in form.rejected:
        form.errors["phone" if each["code"] == "invalid_phone" else "field_value"] = rejection(
            each["code"], each.get("detail")
        )
        form.problem = ""
    form.rejected = []


def _page(group_id: str, name: Form | None = None, contacts: Form | None = None, upload: Form | None = None) -> str:
    group = account().groups.one(group_id)
    searched = plain_phone(request.args.get("phone", ""), country()) or None
    search = Form({"phone": request.args.get("phone", "")})
    page = search.page(lambda: account().groups.contacts(group_id, phone=searched, **paging(25)))
    return render_template(
        "groups/show.html",
        group=group,
        page=page,
        search=search,
        imports=account().groups.imports(limit=5, group_id=group_id)["data"],
        name=name or Form({"name": group["name"]}),
        contacts=contacts or Form({"phones": ""}),
        upload=upload or Form({"country": ""}),
        charsets=CHARSETS,
    )
