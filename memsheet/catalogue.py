"""Catalogues: tables of GPUs and models with their sources, read from YAML beside the formulas."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from .units import Unit, byte, count

UNITS = {"byte": byte, "1": count}


@dataclass(frozen=True)
class Column:
    """What the figures of one column are, and what a scenario may state instead of them (see Quantity)."""

    label: str
    unit: Unit
    note: str = ""
    limits: tuple[float, float | None] = (0, None)
    whole: bool = False


@dataclass(frozen=True, eq=False)
class Catalogue:
    """A table: row word -> figures. `rows[word][column]` is a number, `labels` and `sources` are keyed by row word."""

    name: str
    title: str
    columns: Mapping[str, Column]
    rows: Mapping[str, Mapping[str, float]]
    labels: Mapping[str, str]
    sources: Mapping[str, str]

    def values(self, column: str) -> tuple[float, ...]:
        """One column's figures in the order of the rows."""
        return tuple(row[column] for row in self.rows.values())


def read(path: Path) -> Catalogue:
    """Read a catalogue. Raises ValueError when a row has no number in a column, or no label or source."""
    import yaml

    data = yaml.load(path.read_text(encoding="utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    columns = {
        name: Column(
            about["label"], UNITS[str(about.get("unit", "1"))], about.get("note", ""),
            (about.get("lowest", 0), about.get("highest")), about.get("whole", False),
        )
        for name, about in data["columns"].items()
    }  # fmt: skip
    for word, row in data["rows"].items():
        missing = [name for name in columns if not isinstance(row.get(name), (int, float))]
        missing += [name for name in ("label", "source") if not row.get(name)]
        if missing:
            raise ValueError(f"{path.name}: {word}: no {', '.join(missing)}")
    return Catalogue(
        name=path.stem,
        title=data["title"],
        columns=columns,
        rows={word: {name: row[name] for name in columns} for word, row in data["rows"].items()},
        labels={word: row["label"] for word, row in data["rows"].items()},
        sources={word: row["source"] for word, row in data["rows"].items()},
    )
