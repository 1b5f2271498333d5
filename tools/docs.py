"""Writes the generated pages of docs/: the formulas, the inputs of scenarios, the command line.

    .venv/bin/python tools/docs.py          # write them
    .venv/bin/python tools/docs.py --check  # exit with 1 if one is not current
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import click

from memsheet import cli, scenario
from memsheet.house import folder
from memsheet.model import Cell
from memsheet.printers.latex import Latex
from memsheet.printers.latex import symbols as latex_symbols
from memsheet.printers.words import Words
from memsheet.printers.words import names as word_names
from memsheet.quantity import Declaration, Quantity

DOCS = Path(__file__).resolve().parent.parent / "docs"
HEAD = "<!-- made by tools/docs.py: do not edit -->\n"


def pages() -> dict[str, str]:
    """File name -> text."""
    return {
        "formulas.md": HEAD + "\n".join(formulas(scenario.declaration())) + "\n",
        "scenarios.md": HEAD + "\n".join(scenarios(scenario.declaration())) + "\n",
        "cli.md": HEAD + "\n".join(commands()) + "\n",
    }


def formulas(declaration: Declaration) -> Iterator[str]:
    """Every declared formula, by chapter, in words and in symbols, as it stands in the first built-in scenario that uses it."""
    yield "# Formulas"
    yield ""
    yield "Every formula that workbooks, reports and estimates are made of, as declared in `formulas/`. Bytes unless another unit is named."
    words, latex, cells = Words(), Latex(), _examples()
    for chapter, title in declaration.chapters.items():
        yield f"\n## {title}"
        for row in declaration.rows.values():
            if row.chapter != chapter or row.is_given or row.name not in cells:
                continue
            cell = cells[row.name]
            yield f"\n### `{row.name}`"
            unit = "" if row.unit.name in ("byte", "1", "words") else f", in {row.unit.name}"
            yield f"\n{row.label}{unit}."
            yield f"\n> {row.name.replace('_', ' ')} = {words.text(cell, word_names)}"
            yield f"\n$${row.tex or _upright(row)} = {latex.text(cell, latex_symbols)}$$"
            yield f"\nSource: {row.source}." + (f" {row.note}" if row.note else "")


def _examples() -> dict[str, Cell]:
    """A cell of each row that any built-in scenario uses."""
    found: dict[str, Cell] = {}
    for name in scenario.names():
        for key, cell in scenario.load(name).model.cells.items():
            is_formula = cell.expression is not None and cell.expression != cell.quantity.symbol
            if is_formula and (key.row not in found or key.column.stage == "last"):  # the last stage shows more than "0"
                found[key.row] = cell
    return found


def _upright(row: Quantity) -> str:
    return r"\text{" + row.label.replace("%", r"\%").replace("_", r"\_") + "}"


def scenarios(declaration: Declaration) -> Iterator[str]:
    """Every input of a scenario file, the built-in scenarios, and the schedules."""
    yield "# Scenarios"
    yield ""
    yield "A scenario is a YAML file. `extends` names another to start from; `inputs` apply to all roles, and `roles`,"
    yield "`processes` and `pools` hold what differs for one of them. Sizes may end in B, kB, MB, GB, TB (powers of 1000) or"
    yield "KiB, MiB, GiB, TiB (powers of 1024), shares in %."
    yield ""
    yield "Built in: " + ", ".join(f"`{name}`" for name in scenario.names()) + ". To extend: " + ", ".join(
        f"`base/{path.stem}`" for path in sorted((folder("scenarios") / "base").glob("*.yaml"))
    ) + "."  # fmt: skip
    for chapter, title in declaration.chapters.items():
        rows = [row for row in declaration.rows.values() if row.chapter == chapter and row.is_given]
        if rows:
            yield f"\n## {title}"
            yield ""
            yield "| input | what it is | values | default | one for each |"
            yield "|---|---|---|---|---|"
            for row in rows:
                yield "| " + " | ".join(_input(row)) + " |"


def _input(row: Quantity) -> tuple[str, ...]:
    note = f"{row.label}. {row.note}" if row.note else row.label
    name = f"`{row.name}`" + (f" (member of `{row.group.partition('.')[0]}`)" if row.group else "")
    if row.catalogue:
        kinds = f"a word of the catalogue {row.catalogue.title}"
    elif row.choices:
        kinds = ", ".join(row.choices)
    else:
        high = f" to {row.limits[1]:g}" if row.limits[1] is not None else " or more"
        unit = "" if row.unit.name == "1" else f", {row.unit.name}"
        kinds = f"{'whole number' if row.whole else 'number'}, {row.limits[0]:g}{high}{unit}"
    default = "from the catalogue" if row.lookup is not None else "" if row.default is None else f"{row.default}"
    return name, note.replace("|", "\\|"), kinds, default, row.per


def commands() -> Iterator[str]:
    """The help of every command."""
    yield "# Command line"
    for name in ("", *cli.main.commands):
        command = cli.main.commands[name] if name else cli.main
        parent = click.Context(cli.main, info_name="memsheet", terminal_width=100, **cli.main.context_settings)
        context = click.Context(command, parent, name, terminal_width=100) if name else parent
        yield f"\n## memsheet {name}".rstrip()
        yield f"\n```\n{command.get_help(context)}\n```"


def main() -> int:
    stale = [name for name, text in pages().items() if not (DOCS / name).is_file() or (DOCS / name).read_text(encoding="utf-8") != text]
    if "--check" in sys.argv[1:]:
        for name in stale:
            print(f"docs/{name} is not current: run tools/docs.py")
        return bool(stale)
    for name, text in pages().items():
        (DOCS / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
