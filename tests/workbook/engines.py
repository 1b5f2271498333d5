"""Spreadsheet programs as oracles: each opens a workbook, takes new inputs, recalculates, and is asked for every cell."""

import shutil
import subprocess
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path

import openpyxl

from memsheet import evaluate, values
from memsheet.model import Key
from memsheet.workbook.places import Place

Answers = dict[Place, object]


def formualizer(path: Path, inputs: Mapping[Place, object], wanted: list[Place]) -> Answers:
    import formualizer as engine

    book = engine.load_workbook(str(path))
    for place, value in inputs.items():
        literal = engine.LiteralValue.text(value) if isinstance(value, str) else engine.LiteralValue.number(float(value))
        book.set_value(place.sheet, place.row, place.column, literal)
    book.evaluate_all()
    return {place: book.get_value(place.sheet, place.row, place.column) for place in wanted}


def ironcalc(path: Path, inputs: Mapping[Place, object], wanted: list[Place]) -> Answers:
    import ironcalc as engine

    book = engine.load_from_xlsx(str(path), "en", "UTC")
    number = {sheet: index for index, sheet in enumerate(openpyxl.load_workbook(path, read_only=True).sheetnames)}
    for place, value in inputs.items():
        book.set_user_input(number[place.sheet], place.row, place.column, value if isinstance(value, str) else repr(float(value)))
    book.evaluate()
    return {place: book.get_cell_value(number[place.sheet], place.row, place.column) for place in wanted}


def libreoffice(path: Path, wanted: list[Place]) -> Answers:
    """What LibreOffice makes of a file. It believes stored values unless its settings say otherwise."""
    folder = path.parent / f"{path.stem}.libreoffice"
    profile = folder / "profile"
    (profile / "user").mkdir(parents=True)
    (profile / "user" / "registrymodifications.xcu").write_text(
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<oor:items xmlns:oor="http://openoffice.org/2001/registry">'
        '<item oor:path="/org.openoffice.Office.Calc/Formula/Load">'
        '<prop oor:name="OOXMLRecalcMode" oor:op="fuse"><value>0</value></prop></item>'
        "</oor:items>"
    )
    office = [shutil.which("soffice") or "soffice", f"-env:UserInstallation=file://{profile}", "--headless"]
    conversion = ["--convert-to", "xlsx", "--outdir", str(folder), str(path)]
    subprocess.run([*office, *conversion], check=True, capture_output=True, timeout=180)
    answers = openpyxl.load_workbook(folder / path.name, data_only=True)
    return {place: answers[place.sheet].cell(place.row, place.column).value for place in wanted}


def exact(model, inputs: Mapping[Key, object]) -> dict[Key, object]:
    """Every cell in fractions: no rounding at all, so every program can be held to it."""
    options = {key for key, cell in model.inputs.items() if cell.quantity.choices}
    fractions = {key: value if key in options else Fraction(str(value)) for key, value in inputs.items()}
    return evaluate.scalar(model)(fractions)


def shown(model, key: Key, value: object) -> object:
    """A value as a sheet shows it."""
    return values.shown(model.cells[key].quantity, value)


def disagreement(got: object, expected: object) -> str:
    """Why two values differ; empty where they agree to 1e-9."""
    if isinstance(expected, str):
        return "" if got == expected else f"{got!r} for {expected!r}"
    if not isinstance(got, (int, float)) or isinstance(got, bool):
        return f"{got!r} for {float(expected)!r}"
    scale = max(1.0, abs(float(expected)))
    return "" if abs(float(got) - float(expected)) <= 1e-9 * scale else f"{got!r} for {float(expected)!r}"
