"""How long memsheet takes to make a scenario's workbook, and bare XlsxWriter to write the same cells.

    python benchmarks/workbook.py

Ours is timed from a loaded scenario to the bytes of the file: views, formulas, values, styles, charts. XlsxWriter gets
the finished texts, formulas and values, so its time is that of writing alone; it writes no styles and no charts.
"""

import subprocess
import sys
from io import BytesIO

import timing
import xlsxwriter

from memsheet import scenario, workbook

SCENARIOS = ("h200-ppo-lora", "seed-3-large")
SECONDS = 0.4

#: (sheet, row, column, text or number, value of a formula), rows and columns from 0.
Content = list[tuple[str, int, int, object, object]]


def content_of(loaded: scenario.Scenario) -> Content:
    """Everything that stands in the cells of a scenario's workbook."""
    book, values, _ = workbook.build(loaded)
    return [
        (sheet.title, cell.row - 1, cell.column - 1, cell.value, values[sheet.title][cell.coordinate] if cell.data_type == "f" else None)
        for sheet in book.worksheets
        for row in sheet.iter_rows()
        for cell in row
        if cell.value is not None
    ]


def bare(content: Content) -> bytes:
    """The same cells, written by XlsxWriter."""
    file = BytesIO()
    book = xlsxwriter.Workbook(file, {"in_memory": True})
    sheets = {name: book.add_worksheet(name) for name in dict.fromkeys(name for name, *_ in content)}
    for name, row, column, what, value in content:
        if value is not None:
            sheets[name].write_formula(row, column, what, None, value)
        elif isinstance(what, str):
            sheets[name].write_string(row, column, what)
        else:
            sheets[name].write_number(row, column, what)
    book.close()
    return file.getvalue()


def first(name: str) -> float:
    """Seconds of the first workbook of a process, libraries imported: sympy's and our own caches are empty."""
    program = (
        "import time; from memsheet import scenario, workbook; "
        f"loaded = scenario.load({name!r}); loaded.values; start = time.perf_counter(); "
        "workbook.contents(loaded); print(time.perf_counter() - start)"
    )
    paths = f"import sys; sys.path[:0] = {sys.path[:1]!r}; "
    return float(subprocess.run([sys.executable, "-c", paths + program], check=True, capture_output=True, text=True).stdout)


def main() -> None:
    for name in SCENARIOS:
        loaded = scenario.load(name)
        content = content_of(loaded)
        formulas = sum(value is not None for *_, value in content)
        ours, theirs = timing.best(lambda loaded=loaded: workbook.contents(loaded), lambda content=content: bare(content))
        print(f"{name}: {len(content):,} cells, {formulas:,} of them formulas, {len(workbook.contents(loaded)) / 1000:,.0f} kB")
        timing.report("memsheet, first of a process", min(first(name) for _ in range(3)), "s", SECONDS)
        timing.report("memsheet, later ones", ours, "s", SECONDS)
        timing.report("bare XlsxWriter, the cells alone", theirs, "s")
        timing.report("ratio", ours / theirs, "")
        print()
    timing.finish()


if __name__ == "__main__":
    main()
