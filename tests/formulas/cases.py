"""Cases as data: a scenario that states its difference, and what rows must be. (Not collected by pytest.)"""

import ast
import json
import operator
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from memsheet import reader, scenario, values
from memsheet.declare import Declaration
from memsheet.model import Key
from memsheet.scenario import Scenario

FOLDER = Path(__file__).resolve().parent.parent / "cases"
BLOCKS = ("inputs", "roles", "processes", "pools")
OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}
#: The letters of formulas in the cases, and the rows that have their values.
LETTERS = {
    "h": "hidden_size", "f": "intermediate_size", "L": "number_of_layers", "nq": "attention_heads",
    "nk": "key_value_heads", "d": "head_dimension", "V": "vocabulary_size", "W": "cublas_workspace", "X": "cuda_context",
    "C": "cuda_memory",
}  # fmt: skip


@dataclass(frozen=True)
class Case:
    """`expect` says for each expectation the row, where it stands, what it is and within what.

    A case of a check has its name, the role where it `fires`, and inputs that change in the built workbook (`live`).
    """

    name: str
    source: str
    extends: str
    blocks: Mapping[str, object]
    expect: tuple[Mapping[str, str], ...] = ()
    fires: str = ""
    live: Mapping[str, str] = field(default_factory=dict)

    def scenario(self, chapters: Declaration | None = None) -> Scenario:
        """The scenario of the case, with these chapters instead of the built-in ones."""
        with TemporaryDirectory() as folder:
            path = Path(folder) / "case.yaml"
            path.write_text(json.dumps({"title": self.name, "extends": self.extends, **self.blocks}), encoding="utf-8")
            return scenario.load(str(path), chapters=chapters)


def load(name: str) -> list[Case]:
    """The cases of a file in tests/cases."""
    read = reader.parse("cases:\n" + (FOLDER / name).read_text(encoding="utf-8"), name).plain()["cases"]
    cases = []
    for item in read:
        blocks = {block: item.pop(block) for block in BLOCKS if block in item}
        cases.append(Case(blocks=blocks, expect=tuple(item.pop("expect", ())), **item))
    assert len({case.name for case in cases}) == len(cases)
    return cases


def bounds(case: Case, found: Scenario) -> dict[Key, tuple[float, float]]:
    """The lowest and highest value that a case allows each cell it names."""
    letters = letters_of(found)
    allowed = {}
    for expectation in case.expect:
        assert expectation.keys() <= {"row", "of", "stage", "at", "is", "within", "says"}, expectation
        if "is" in expectation:
            expected = arithmetic(expectation["is"], letters)
            # Floats lose the last of 53 bits.
            within = arithmetic(expectation.get("within", "0"), letters) + 1e-9 * abs(expected)
            allowed.update(dict.fromkeys(keys(found, expectation), (expected - within, expected + within)))
    return allowed


def problems(case: Case, found: Scenario) -> Iterator[str]:
    """Where a case's expectations are not met."""
    for key, (low, high) in bounds(case, found).items():
        if not low <= found.values[key] <= high:
            yield f"{key}: {found.values[key]:,} where it should be {(low + high) / 2:,}"
    for expectation in case.expect:
        for key in keys(found, expectation) if "says" in expectation else ():
            word = values.shown(found.model.cells[key].quantity, found.values[key])
            if word != expectation["says"]:
                yield f"{key}: {word!r} where it should be {expectation['says']!r}"


def keys(found: Scenario, expectation: Mapping[str, str]) -> list[Key]:
    """The cells that an expectation means: at least one."""
    place = expectation.get("of", "")
    chosen = [
        key
        for key in found.model.cells
        if key.row == expectation["row"]
        and place in ("", key.column.role, key.column.process, key.column.pool)
        and expectation.get("stage", "") in ("", key.column.stage)
        and expectation.get("at", "") == key.column.instant
    ]
    assert chosen, f"no cell is {expectation}"
    return chosen


def letters_of(found: Scenario) -> dict[str, float]:
    """The sizes of the scenario's model and GPU by their letters, and GiB."""
    letters: dict[str, float] = {"GiB": 2**30}
    for letter, row in LETTERS.items():
        letters[letter] = next(value for key, value in found.values.items() if key.row == row)
    letters["q"] = letters["nq"] * letters["d"]
    letters["k"] = letters["nk"] * letters["d"]
    key = next(key for key in found.model.cells if key.row == "model")
    quantity = found.model.cells[key].quantity
    letters["P"] = published()[str(values.shown(quantity, found.values[key]))]
    letters["W"] *= 2
    return letters


@cache
def published() -> dict[str, float]:
    """The parameters of each model as published."""
    catalogue = scenario.declaration()["model"].catalogue
    assert catalogue is not None
    return {model: row["parameters_published"] for model, row in catalogue.rows.items()}


def arithmetic(text: str, letters: Mapping[str, float]) -> float:
    """The value of sums and products of numbers and letters."""

    def value(node: ast.expr) -> float:
        match node:
            case ast.Constant(value=int() | float()):
                return node.value
            case ast.Name():
                return letters[node.id]
            case ast.BinOp():
                return OPERATORS[type(node.op)](value(node.left), value(node.right))
        raise ValueError(f"{text!r}: no arithmetic")

    return value(ast.parse(text, mode="eval").body)
