"""How long memsheet takes to write 40,000 cells, and bare XlsxWriter to write the same ones.

    python benchmarks/xlsx_writer.py

Half the cells are formulas with their values, half are texts, a fifth of which repeat. Both are timed from nothing to
the file on disk; each turn times one after the other, so that a busy machine slows both, and the best turn counts.
"""

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import openpyxl
import xlsxwriter

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from memsheet.workbook import xlsx

ROWS, PAIRS, TURNS = 2_000, 10, 5
SHEET = "Cells"
Result = TypeVar("Result")


def cells() -> list[tuple[int, int, str, float | None]]:
    """Row, column (both from 1), content, and the value of a formula."""
    made: list[tuple[int, int, str, float | None]] = []
    for row in range(1, ROWS + 1):
        for pair in range(PAIRS):
            repeats = pair < PAIRS // 5
            made.append((row, 2 * pair + 1, f"label {pair}" if repeats else f"label {pair} of row {row}", None))
            made.append((row, 2 * pair + 2, f'=ROW()*{pair}+IF($A$1="full",1,2.5)', row * pair + 2.5))
    return made


def ours(path: Path, content: list[tuple[int, int, str, float | None]]) -> float:
    """Returns the share of it that `save` takes, in seconds."""
    workbook = openpyxl.Workbook()
    sheet = workbook.active
    sheet.title = SHEET
    values: dict[str, float] = {}
    for row, column, text, value in content:
        cell = sheet.cell(row, column, text)
        if value is not None:
            values[cell.coordinate] = value
    start = time.perf_counter()
    xlsx.save(workbook, path, {SHEET: values})
    return time.perf_counter() - start


def theirs(path: Path, content: list[tuple[int, int, str, float | None]]) -> None:
    workbook = xlsxwriter.Workbook(path)
    sheet = workbook.add_worksheet(SHEET)
    for row, column, text, value in content:
        if value is None:
            sheet.write_string(row - 1, column - 1, text)
        else:
            sheet.write_formula(row - 1, column - 1, text, None, value)
    workbook.close()


def seconds(work: Callable[[], Result]) -> tuple[float, Result]:
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def main() -> None:
    content = cells()
    turns = []
    with tempfile.TemporaryDirectory() as folder:
        ours_path, theirs_path = Path(folder) / "ours.xlsx", Path(folder) / "theirs.xlsx"
        for _ in range(TURNS):
            whole, saving = seconds(lambda: ours(ours_path, content))
            turns.append((whole, saving, seconds(lambda: theirs(theirs_path, content))[0]))
        sizes = [path.stat().st_size / 1000 for path in (ours_path, theirs_path)]
    whole, saving, bare = (min(column) for column in zip(*turns, strict=True))
    print(f"{len(content):,} cells, best of {TURNS}")
    print(f"memsheet    {whole:.3f} s ({saving:.3f} s of it in xlsx.save), {sizes[0]:,.0f} kB")
    print(f"XlsxWriter  {bare:.3f} s, {sizes[1]:,.0f} kB")
    print(f"ratio       {whole / bare:.2f} (save alone {saving / bare:.2f})")


if __name__ == "__main__":
    main()
