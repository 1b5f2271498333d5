"""Compiled functions: floats agree with exact fractions, arrays with single numbers, and nothing unwanted is computed."""

import math
from fractions import Fraction

import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from memsheet import evaluate, nodes, scenario
from memsheet.model import Cell, Key, Layout, Model
from memsheet.quantity import TABLE, Declaration, Quantity
from memsheet.units import count

numpy = pytest.importorskip("numpy")

SCENARIOS = ["h200-ppo-lora", "seed-1-development", "seed-3-large", "table-1-full-7b", "table-1-inference-7b"]
#: As far as sweeps go. (A batch of a million sequences of a hundred million tokens would be exact no more in floats.)
LARGEST = 100_000


def changed_inputs(loaded: scenario.Scenario, data: st.DataObject) -> dict[Key, object]:
    """A new value for every input, within its limits."""
    return {key: data.draw(value_of(cell.quantity)) for key, cell in loaded.model.inputs.items()}


def value_of(quantity: Quantity) -> st.SearchStrategy[object]:
    if quantity.choices:
        return st.integers(0, len(quantity.choices) - 1)
    low, high = quantity.limits
    if quantity.unit.power:
        return st.integers(int(low), int(2**36 if high is None else high))
    top = min(high if high is not None else LARGEST, LARGEST)
    return st.integers(int(low), int(top)) if quantity.whole else st.floats(low, min(top, 4), allow_subnormal=False)


def exact(model: Model, inputs: dict[Key, object]) -> dict[Key, object]:
    """Every cell in fractions."""
    options = {key for key, cell in model.inputs.items() if cell.quantity.choices}
    return evaluate.scalar(model)({key: value if key in options else Fraction(value) for key, value in inputs.items()})


# --- floats against fractions ---


@pytest.mark.parametrize("name", SCENARIOS)
@settings(max_examples=12, deadline=None, derandomize=True)
@given(data=st.data())
def test_floats_agree_with_fractions_in_every_cell(name, data):
    loaded = scenario.load(name)
    inputs = changed_inputs(loaded, data)
    expected, found = exact(loaded.model, inputs), evaluate.scalar(loaded.model)(inputs)
    assert found.keys() == loaded.model.cells.keys()
    for key, cell in loaded.model.cells.items():
        # What is left of a difference of large numbers is only as exact as these are.
        scale = max((abs(float(expected[read])) for read in cell.reads() if not isinstance(expected[read], str)), default=0)
        if isinstance(expected[key], str):
            continue  # which of two equal cells is named may differ by a rounding
        told = f"{key}: {found[key]} for {float(expected[key])}"
        assert math.isclose(found[key], expected[key], rel_tol=1e-12, abs_tol=1e-12 * scale), told


@pytest.mark.parametrize("name", SCENARIOS)
def test_words_agree_as_built(name):
    loaded = scenario.load(name)
    expected = exact(loaded.model, loaded.inputs)
    words = {key: value for key, value in loaded.values.items() if isinstance(value, str)}
    assert words and words == {key: expected[key] for key in words}


# --- arrays against single numbers ---


@pytest.mark.parametrize("name", SCENARIOS)
@settings(max_examples=6, deadline=None, derandomize=True)
@given(data=st.data())
def test_arrays_agree_with_single_numbers(name, data):
    loaded = scenario.load(name)
    wanted = loaded.model.headline("peak") + loaded.model.headline("typical_peak") + loaded.model.checks()
    rows = [changed_inputs(loaded, data) for _ in range(5)]
    single = evaluate.scalar(loaded.model, wanted)
    varied = set(data.draw(st.lists(st.sampled_from(single.inputs), min_size=1, unique=True)))
    rows = [{key: row[key] if key in varied else rows[0][key] for key in single.inputs} for row in rows]
    columns = {key: numpy.array([row[key] for row in rows]) if key in varied else rows[0][key] for key in single.inputs}
    found = evaluate.arrays(loaded.model, wanted, chunk=2)(columns)
    for number, row in enumerate(rows):
        expected = single(row)
        for key in wanted:
            value = found[key][number] if numpy.ndim(found[key]) else found[key]
            assert math.isclose(value, expected[key], rel_tol=1e-12), str(key)


@pytest.fixture
def training() -> tuple[scenario.Scenario, Key, Key]:
    """A scenario, its peak and its sequence length."""
    settings = (("model", "llama-7b"), ("gpu", "a100-80gb"), ("method", "lora"))
    loaded = scenario.load("base/training", settings)
    return loaded, loaded.model.headline("peak")[0], Key("sequence_length")


@pytest.mark.parametrize("length", [0, 1, 3, 4, 5, 8, 9])
def test_chunks_cover_every_row(training, length):
    loaded, peak, sequence_length = training
    lengths = numpy.arange(1, length + 1) * 128
    found = evaluate.arrays(loaded.model, [peak], chunk=4)(loaded.inputs | {sequence_length: lengths})[peak]
    single = evaluate.scalar(loaded.model)
    assert found.shape == (length,)
    assert found == pytest.approx([single(loaded.inputs | {sequence_length: int(n)})[peak] for n in lengths], rel=1e-12)


def test_arrays_of_different_lengths_are_refused(training):
    loaded, peak, sequence_length = training
    columns = {sequence_length: numpy.ones(3), Key("micro_batch_size"): numpy.ones(4)}
    with pytest.raises(ValueError, match=r"arrays of different lengths: \[3, 4\]"):
        evaluate.arrays(loaded.model, [peak])(loaded.inputs | columns)


def test_what_no_array_reaches_comes_back_as_one_number(training):
    loaded, peak, sequence_length = training
    (capacity,) = loaded.model.headline("capacity")
    found = evaluate.arrays(loaded.model, [peak, capacity])(loaded.inputs | {sequence_length: numpy.array([128, 256])})
    assert found[capacity] == loaded.values[capacity] and numpy.ndim(found[capacity]) == 0
    assert found[peak].shape == (2,)
    assert evaluate.arrays(loaded.model, [peak])(loaded.inputs)[peak] == pytest.approx(loaded.values[peak], rel=1e-12)


def test_an_array_of_option_words_looks_each_one_up(training):
    loaded, _, _ = training
    (capacity,) = loaded.model.headline("capacity")
    (gpu,) = (key for key in loaded.model.inputs if key.row == "gpu")
    quantity = loaded.model.cells[gpu].quantity
    found = evaluate.arrays(loaded.model, [capacity])(loaded.inputs | {gpu: numpy.arange(len(quantity.choices))})[capacity]
    assert list(found) == list(quantity.catalogue.values("cuda_memory"))


def test_whole_numbers_do_not_wrap_around(training):
    """2^31 tokens of 2^20 sequences are more bytes than 64 bits hold; numpy would say nothing."""
    loaded, peak, sequence_length = training
    huge = {sequence_length: 2**31, Key("micro_batch_size"): 2**20}
    arrays = {key: numpy.array([value, value]) for key, value in huge.items()}
    expected = evaluate.scalar(loaded.model)(loaded.inputs | huge)[peak]
    assert expected > 2**63
    assert evaluate.arrays(loaded.model, [peak])(loaded.inputs | arrays)[peak] == pytest.approx([expected] * 2, rel=1e-12)


# --- small models ---


def model(**formulas: object) -> Model:
    """Cells, each from a function of the symbols so far. None is an input, and so is a tuple of option words."""
    symbols: dict[str, sympy.Symbol] = {}
    cells = {}
    for name, formula in formulas.items():
        choices = formula if isinstance(formula, tuple) else ()
        expression = sympy.sympify(formula(symbols)) if callable(formula) else None
        row = Quantity(sympy.Dummy(name, real=True), name, count, "test", "scenario", expression=expression, name=name, choices=choices)
        TABLE[row.symbol] = row
        refs = {symbol: Key(symbol.name) for symbol in expression.free_symbols} if expression is not None else {}
        cells[Key(name)] = Cell(Key(name), row, expression, refs)
        symbols[name] = row.symbol
    return Model(Declaration({}, {}, {}, {}, {}, {}), Layout((), ()), cells)


def test_only_what_is_wanted_is_asked_for_and_computed():
    small = model(
        a=None, b=None, unused=None, double=lambda s: 2 * s["a"], unwanted=lambda s: 1 / s["unused"], total=lambda s: s["double"] + s["b"]
    )  # fmt: skip
    function = evaluate.scalar(small, [Key("total")])
    assert function.inputs == (Key("a"), Key("b")) and function.outputs == (Key("total"),)
    assert function({Key("a"): 3, Key("b"): 4}) == {Key("total"): 10}
    assert function.run([3, 4]) == (10,)


def test_a_wanted_cell_may_be_an_input_and_may_be_read_by_another():
    small = model(a=None, double=lambda s: 2 * s["a"], fourfold=lambda s: 2 * s["double"])
    found = evaluate.scalar(small, [Key("double"), Key("fourfold"), Key("a")])({Key("a"): 3})
    assert found == {Key("double"): 6, Key("fourfold"): 12, Key("a"): 3}


def test_a_missing_input_is_named():
    small = model(a=None, double=lambda s: 2 * s["a"])
    with pytest.raises(KeyError, match="row='a'"):
        evaluate.scalar(small)({})


def test_rounding_keeps_fractions_exact():
    for round_, expected in ((sympy.ceiling, Fraction(4, 3)), (sympy.floor, Fraction(3, 2))):
        small = model(a=None, b=None, share=lambda s, round_=round_: round_(s["a"] / s["b"]) / round_(s["b"] - sympy.Rational(1, 2)))
        found = evaluate.scalar(small)({Key("a"): Fraction(10), Key("b"): Fraction(3)})[Key("share")]
        assert found == expected and isinstance(found, Fraction)
        assert evaluate.scalar(small)({Key("a"): 10, Key("b"): 3})[Key("share")] == pytest.approx(float(expected), rel=1e-15)


def test_the_branch_that_is_not_taken_may_divide_by_nothing():
    small = model(a=None, b=None, ratio=lambda s: sympy.Piecewise((s["a"] / s["b"], s["b"] > 0), (0, True)))
    assert evaluate.scalar(small)({Key("a"): 1, Key("b"): 0})[Key("ratio")] == 0
    columns = {Key("a"): numpy.array([1.0, 1.0]), Key("b"): numpy.array([0.0, 2.0])}
    with numpy.errstate(all="raise"):
        assert list(evaluate.arrays(small, [Key("ratio")])(columns)[Key("ratio")]) == [0, 0.5]
        assert evaluate.arrays(small, [Key("ratio")])({Key("a"): 1, Key("b"): 0})[Key("ratio")] == 0


def ranges() -> tuple[Model, dict[str, Key]]:
    """Three cells and what is said of them as a range."""
    small = model(a=None, b=None, c=None)
    cells, of = dict(small.cells), sympy.Dummy("range", real=True)
    names = (Key("a"), Key("b"), Key("c"))
    other = sympy.Dummy("other", real=True)
    for name, expression in {
        "total": nodes.Total(of), "highest": nodes.Highest(of), "name": nodes.NameOfHighest(of), "there": nodes.AtHighest(of, other),
    }.items():  # fmt: skip
        row = Quantity(sympy.Dummy(name), name, count, "test", "scenario", expression=expression, name=name)
        refs = {of: names, other: names[::-1]} if name == "there" else {of: names}
        cells[Key(name)] = Cell(Key(name), row, expression, refs, ("Cell a", "Cell b", "Cell c") if name == "name" else ())
    return Model(small.declaration, small.layout, cells), {name: Key(name) for name in ("total", "highest", "name", "there")}


@pytest.mark.parametrize(
    ("numbers", "total", "highest", "name", "there"),
    [((1, 2, 3), 6, 3, "Cell c", 1), ((5, 2, 3), 10, 5, "Cell a", 3), ((2, 2, 1), 5, 2, "Cell a", 1), ((-1, -1, -1), -3, -1, "Cell a", -1)],
)
def test_ranges_are_summed_and_compared_and_the_first_highest_is_named(numbers, total, highest, name, there):
    small, keys = ranges()
    found = evaluate.scalar(small)(dict(zip((Key("a"), Key("b"), Key("c")), numbers, strict=True)))
    assert [found[key] for key in keys.values()] == [total, highest, name, there]
    columns = {key: numpy.array([number]) for key, number in zip((Key("a"), Key("b"), Key("c")), numbers, strict=True)}
    swept = evaluate.arrays(small, [keys["total"], keys["highest"]])(columns)
    assert [float(value[0]) for value in swept.values()] == [total, highest]


def test_options_are_numbers_of_their_words():
    small = model(
        method=("full", "lora"),
        bytes_of=lambda s: sympy.Piecewise((4, sympy.Eq(s["method"], 0)), (2, True)),
    )  # fmt: skip
    assert evaluate.scalar(small)({Key("method"): 0})[Key("bytes_of")] == 4
    assert list(evaluate.arrays(small, [Key("bytes_of")])({Key("method"): numpy.array([0, 1, 0])})[Key("bytes_of")]) == [4, 2, 4]
