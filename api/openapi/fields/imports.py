"""The words of imports."""

from typing import Final

from api.openapi.fields.core import GROUP_ID, Word

IMPORT_ID = "019cad30-51b2-7d44-a1c7-0f6e2b9d8c35"
STATES = ["queued", "running", "completed", "failed", "canceled"]
WORDS: Final[dict[str, Word]] = {
    "bytes": ("The file's size, as UTF-8.", 2_400_000),
    "bytes_done": ("How much of it was read.", 1_200_000),
    "country": ("The country in whose way the file writes numbers; null: only international ones are read.", "KE"),
    "ImportQuery.country": ("The country in whose way the file writes numbers; the account's, unless said.", "KE"),
    "errors_url": ("Where the rows that are no contacts are listed.", f"/api/v1/imports/{IMPORT_ID}/errors"),
    "import_id": ("The import.", IMPORT_ID),
    "line": ("The row's first line in the file, from 1.", 3),
    "rows": ("Rows that were read, without the header.", 50_000),
    "value": ("The row's phone as it was given, cut to 40 characters.", "0712"),
    "Import.counts": (
        "What became of the rows so far.",
        {"rows": 50_000, "added": 49_000, "changed": 600, "unchanged": 300, "invalid": 100},
    ),
    "Import.created_at": ("When the file was complete.", "2026-03-02T09:00:00.120Z"),
    "Import.error": ("Of a failed import: why.", None),
    "Import.finished_at": ("When it ended.", None),
    "Import.group_id": ("The group.", GROUP_ID),
    "Import.status": ("Where it is.", "running", {"enum": STATES}),
    "ImportCounts.invalid": ("Rows that are no contacts.", 100),
    "ImportError.code": ("Why it is no contact.", "invalid_phone", {"enum": ["invalid_phone", "invalid"]}),
    "ImportPaging.group_id": ("Only imports into this group.", GROUP_ID),
}
