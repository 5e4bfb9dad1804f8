"""Writes the generated files."""

from clients.making.files import ROOT, made_files

for name, content in made_files().items():
    (ROOT / name).write_text(content)
    print(f"clients/{name}")
