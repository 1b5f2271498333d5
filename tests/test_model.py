"""Lowering, on small chapters made up for the test: which cells there are, and what each reads."""

from pathlib import Path

import pytest
import sympy

from memsheet import chapters as chapter_files
from memsheet import evaluate, nodes
from memsheet.model import Column, Instant, Key, Layout, LoweringError, Model, Role, lower

HEAD = '"""A chapter."""\nfrom memsheet.declare import *\n'
#: What every chapter ends with unless it has its own: the components of each process, and the highest instant.
TIMELINE = """
allocated = define(total_of(components("process")), "Allocated", byte, source="a test")
on_card = define(total_of(every("process", allocated)), "On the card", byte, source="a test")
peak = define(highest_of(every("instant", on_card)), "Peak", byte, source="a test")
peak_instant = name_of_highest(every("instant", on_card), "Tightest", source="a test")
largest = name_of_highest(components("card"), "Largest", source="a test")
peak_component = define(at_highest(every("instant", on_card), every("instant", largest)), "Largest then", words, source="a test")
STATISTICS = {"allocated": allocated, "device": on_card}
HEADLINE = {"peak": peak, "peak_instant": peak_instant, "peak_component": peak_component}
"""
STATES = """
width = given("Bytes of a number", byte, per="scenario", default=2, source="a test")
size = given("Parameters")
shards = given("Ranks", default=1)
weights = define(width * size / shards, "Weights", byte, source="a test")
"""
ONE_PROCESS = (Role("actor", "main", "trainer"), Role("critic", "main", "trainer"))


def instants(**holds: dict[str, tuple[str, ...]]) -> tuple[Instant, ...]:
    return tuple(Instant(name, name.capitalize(), roles) for name, roles in holds.items())


BOTH = instants(load={"actor": ("weights",)}, update={"actor": ("weights",), "critic": ("weights",)})


@pytest.fixture
def lowered(tmp_path: Path, request):
    """Lowers one chapter, in a package of the test's own so that it reaches no other test."""

    def make(text: str, roles=ONE_PROCESS, timeline=BOTH, staged=(), stated=lambda quantity, column: False) -> Model:
        folder = tmp_path / "formulas"
        folder.mkdir()
        (folder / "__init__.py").write_text('CHAPTERS = ("chapter",)\n')
        (folder / "chapter.py").write_text(HEAD + text)
        declaration = chapter_files.load(folder, f"formulas_of_{request.node.name}")
        return lower(declaration, Layout(roles, timeline, frozenset(staged)), stated)

    return make


def rows(model: Model, name: str) -> dict[str, object]:
    """A row's cells by column, without the copies that instants hold."""
    return {
        str(key.column): cell for key, cell in model.cells.items() if key.row == name and (cell.quantity.timed or not key.column.instant)
    }


def reads(model: Model, text: str) -> list[str]:
    """What the cell of that name reads."""
    cell = next(cell for key, cell in model.cells.items() if str(key) == text)
    return sorted(map(str, cell.reads()))


def values(model: Model, **inputs: float) -> dict[str, object]:
    """The value of every cell; `size` is the same in every column, `size_critic` that of one."""
    given = {
        key: inputs.get(f"{key.row}_{key.column.role}", inputs.get(key.row, cell.quantity.default)) for key, cell in model.inputs.items()
    }
    return {str(key): value for key, value in evaluate.scalar(model)(given).items()}


def test_a_row_has_a_cell_in_each_role_that_needs_it(lowered):
    model = lowered(STATES + TIMELINE)
    assert set(rows(model, "weights")) == {"actor", "critic"}
    assert set(rows(model, "width")) == {""}
    assert set(rows(model, "allocated")) == {"trainer @ load", "trainer @ update"}
    assert set(rows(model, "peak")) == {"main"}
    assert reads(model, "weights [critic]") == ["shards [critic]", "size [critic]", "width"]
    assert reads(model, "allocated [trainer @ update]") == ["weights [actor @ update]", "weights [critic @ update]"]
    assert reads(model, "weights [critic @ update]") == ["weights [critic]"]


def test_nothing_is_asked_for_that_nothing_reads(lowered):
    unread = '\nspeed = given("Speed")\ntime = define(size / speed, "Time", count, source="a test")\n'
    model = lowered(STATES + unread + TIMELINE, timeline=instants(load={"actor": ("weights",)}))
    assert not rows(model, "speed") and not rows(model, "time")
    assert set(rows(model, "size")) == {"actor"}


def test_values_of_the_timeline(lowered):
    found = values(lowered(STATES + TIMELINE), size=10, size_critic=100, shards=2)
    assert found["allocated [trainer @ load]"] == 10 and found["allocated [trainer @ update]"] == 110
    assert (found["peak [main]"], found["peak_instant [main]"], found["peak_component [main]"]) == (110, "Update", "Weights, critic")


def test_the_first_of_equal_instants_binds(lowered):
    found = values(lowered(STATES + TIMELINE, timeline=instants(first={"actor": ("weights",)}, second={"actor": ("weights",)})), size=1)
    assert found["peak_instant [main]"] == "First"


def test_cells_come_after_what_they_read(lowered):
    seen: set[Key] = set()
    for key, cell in lowered(STATES + TIMELINE).cells.items():
        assert seen.issuperset(cell.reads()), key
        seen.add(key)


def test_processes_of_a_card_add_up_and_cards_do_not(lowered):
    roles = (Role("actor", "train", "trainer"), Role("engine", "train", "server"), Role("judge", "score", "judging"))
    timeline = instants(run={"actor": ("weights",), "engine": ("weights",), "judge": ("weights",)})
    model = lowered(STATES + TIMELINE, roles, timeline)
    assert reads(model, "on_card [train @ run]") == ["allocated [server @ run]", "allocated [trainer @ run]"]
    assert reads(model, "on_card [score @ run]") == ["allocated [judging @ run]"]
    assert set(rows(model, "peak")) == {"train", "score"}


def test_the_highest_card_of_a_scenario(lowered):
    text = (
        STATES
        + TIMELINE
        + '\nhighest_peak = define(highest_of(every("card", peak)), "Of all", byte, source="a test")\nHEADLINE["all"] = highest_peak\n'
    )
    roles = (Role("actor", "train", "trainer"), Role("judge", "score", "judging"))
    model = lowered(text, roles, instants(run={"actor": ("weights",), "judge": ("weights",)}))
    assert reads(model, "highest_peak") == ["peak [score]", "peak [train]"]
    assert values(model, size=1, size_judge=7)["highest_peak"] == 14


# --- references to other columns ---


def test_another_role(lowered):
    text = STATES + 'shared = define(of("actor", weights) + weights, "Both", byte, source="a test", per="role")\n' + TIMELINE
    model = lowered(text, timeline=instants(run={"critic": ("shared",)}))
    assert reads(model, "shared [critic]") == ["weights [actor]", "weights [critic]"]
    assert values(model, size=1, size_actor=5)["shared [critic]"] == 12


def test_a_role_that_the_scenario_lacks(lowered):
    text = STATES + 'shared = define(of("rollout", weights), "Its", byte, source="a test", per="role")\n' + TIMELINE
    with pytest.raises(LoweringError, match=r"chapter\.py:8: shared reads the role 'rollout', which this scenario lacks"):
        lowered(text, timeline=instants(run={"critic": ("shared",)}))


def test_an_instant_by_name(lowered):
    text = STATES + TIMELINE + '\nat_load = define(at("load", on_card), "Then", byte, source="a test")\nHEADLINE["load"] = at_load\n'
    model = lowered(text)
    assert reads(model, "at_load [main]") == ["on_card [main @ load]"]


def test_an_instant_that_the_schedule_lacks(lowered):
    text = STATES + TIMELINE + '\nthen = define(at("sleep", on_card), "Then", byte, source="a test")\nHEADLINE["then"] = then\n'
    with pytest.raises(LoweringError, match="then reads the instant 'sleep', which the schedule lacks"):
        lowered(text)


def test_every_role_of_a_card(lowered):
    text = (
        STATES
        + TIMELINE
        + '\nranks = define(highest_of(every("role", shards)), "Ranks", count, source="a test")\nHEADLINE["ranks"] = ranks\n'
    )
    model = lowered(text)
    assert reads(model, "ranks [main]") == ["shards [actor]", "shards [critic]"]
    assert values(model, size=1, shards=2, shards_critic=8)["ranks [main]"] == 8


def test_a_card_does_not_read_a_role_without_saying_whose(lowered):
    text = STATES + TIMELINE + '\nshared = define(weights, "Whose?", byte, source="a test", per="card")\nHEADLINE["shared"] = shared\n'
    with pytest.raises(LoweringError, match=r"shared has one value for the card but reads weights, which each role has of its own"):
        lowered(text)


def test_an_unknown_component(lowered):
    with pytest.raises(LoweringError, match="instant run: no formula is called 'wieghts'"):
        lowered(STATES + TIMELINE, timeline=instants(run={"actor": ("wieghts",)}))


def test_a_circle_is_refused_with_its_path(lowered):
    """A component that reads the total that it is part of."""
    text = TIMELINE.replace("STATISTICS", 'rest = define(at("run", on_card), "Rest", byte, source="a test", per="role")\nSTATISTICS')
    with pytest.raises(LoweringError) as error:
        lowered(text, timeline=instants(run={"actor": ("rest",)}))
    assert all(f"{row} [" in str(error.value) for row in ("rest", "allocated", "on_card"))


# --- time ---

RESERVED = (
    TIMELINE
    + '\nreserved = running(2 * allocated, "Reserved", byte, emptied=allocated, source="a test")\nSTATISTICS["reserved"] = reserved\n'
)


def test_what_is_reserved_stays_until_the_cache_is_emptied(lowered):
    holds = {"one": (), "two": ("weights",), "three": (), "four": ("weights",), "five": ()}
    timeline = tuple(Instant(name, name, {"actor": held}, ("trainer",) if name in ("four", "five") else ()) for name, held in holds.items())
    model = lowered(STATES + RESERVED, timeline=timeline)
    found = values(model, size=10)
    assert [found[f"reserved [trainer @ {name}]"] for name in holds] == [0, 40, 40, 20, 0]
    assert reads(model, "reserved [trainer @ one]") == ["allocated [trainer @ one]"]
    assert reads(model, "reserved [trainer @ two]") == ["allocated [trainer @ two]", "reserved [trainer @ one]"]
    assert reads(model, "reserved [trainer @ four]") == ["allocated [trainer @ four]"]


def test_a_card_may_hold_nothing(lowered):
    roles = (Role("actor", "main", "trainer"), Role("judge", "other", "judging"))
    timeline = instants(load={"actor": ("weights",)}, judge={"actor": ("weights",), "judge": ("weights",)})
    model = lowered(STATES + TIMELINE, roles, timeline)
    found = values(model, size=10)
    assert (found["allocated [judging @ load]"], found["on_card [other @ load]"], found["peak [other]"]) == (0, 0, 20)
    assert found["peak_component [other]"] == "Weights, judge"
    largest = model.cells[Key("largest", Column(pool="other", instant="load"))]
    assert largest.quantity.choices[found["largest [other @ load]"]] == "nothing"
    assert model.cells[Key("largest", Column(pool="main", instant="load"))].quantity is model.declaration["largest"]


def test_a_range_without_cells_is_no_number(lowered):
    text = STATES + TIMELINE.replace('total_of(components("process"))', '2 * total_of(components("process"))')
    with pytest.raises(LoweringError, match=r"allocated \[trainer @ run\] reads a range without cells"):
        lowered(text, timeline=instants(run={}))


def test_emptying_one_process_leaves_the_other(lowered):
    roles = (Role("actor", "main", "trainer"), Role("engine", "main", "server"))
    both = {"actor": ("weights",), "engine": ("weights",)}
    timeline = (Instant("full", "Full", both), Instant("empty", "Empty", {}, ("trainer",)))
    found = values(lowered(STATES + RESERVED, roles, timeline), size=10)
    assert (found["reserved [trainer @ empty]"], found["reserved [server @ empty]"]) == (0, 40)


# --- pipeline stages ---

STAGED = """
stages = given("Stages", default=4)
index = by_stage("Index", only=0, first=0, middle=1, last=stages - 1, source="a test")
size = given("Parameters")
weights = define(size * when(index > 0, 1, 3) * given_width, "Weights", byte, source="a test")
"""


def test_stages_are_columns_and_share_their_inputs(lowered):
    text = 'given_width = given("Bytes", byte, per="scenario", default=2, source="a test")\n' + STAGED + TIMELINE
    model = lowered(text, ONE_PROCESS[:1], instants(run={"actor": ("weights",)}), staged=("main",))
    assert set(rows(model, "weights")) == {"actor @ first", "actor @ middle", "actor @ last"}
    assert set(rows(model, "peak")) == {"main @ first", "main @ middle", "main @ last"}
    assert {str(key) for key in model.inputs if key.row == "size"} == {"size [actor @ first]"}
    assert reads(model, "size [actor @ last]") == ["size [actor @ first]"]
    found = values(model, size=10)
    assert [found[f"index [actor @ {stage}]"] for stage in ("first", "middle", "last")] == [0, 1, 3]
    assert [found[f"peak [main @ {stage}]"] for stage in ("first", "middle", "last")] == [60, 20, 20]


def test_without_stages_the_formula_for_one_card_counts(lowered):
    text = 'given_width = given("Bytes", byte, per="scenario", default=2, source="a test")\n' + STAGED + TIMELINE
    model = lowered(text, ONE_PROCESS[:1], instants(run={"actor": ("weights",)}))
    assert model.cells[Key("index", Column("actor", "main", "trainer"))].expression == 0
    assert not rows(model, "stages")


def test_another_role_is_read_on_the_same_stage_where_it_has_stages(lowered):
    text = STATES + 'shared = define(of("actor", weights), "Its", byte, source="a test", per="role")\n' + TIMELINE
    roles = (Role("actor", "main", "trainer"), Role("critic", "main", "trainer"), Role("judge", "other", "judging"))
    model = lowered(text, roles, instants(run={"critic": ("shared",), "judge": ("shared",)}), staged=("main",))
    assert reads(model, "shared [critic @ last]") == ["weights [actor @ last]"]
    assert reads(model, "shared [judge]") == ["weights [actor @ first]"]


# --- catalogues and checks ---

CATALOGUE = """
from memsheet.catalogue import Catalogue, Column
from memsheet.units import byte
rows = {"small": {"memory": 24}, "large": {"memory": 80}}
words_of = {"small": "Small", "large": "Large"}
gpu = catalogue_option(Catalogue("cards", "Cards", {"memory": Column("Memory", byte)}, rows, words_of, words_of), "GPU", per="card")
memory = catalogue_value(gpu, "memory")
"""
FIT = '\nroom = define(memory - peak, "Room", byte, source="a test")\nHEADLINE["headroom"] = room\n'


def test_a_catalogue_fills_a_cell_in_unless_the_scenario_states_it(lowered):
    model = lowered(CATALOGUE + STATES + TIMELINE + FIT)
    assert isinstance(model.cells[Key("memory", Column(pool="main"))].expression, nodes.Lookup)
    assert values(model, size=10, gpu=1)["room [main]"] == 40


def test_a_stated_figure_needs_no_catalogue(lowered):
    model = lowered(CATALOGUE + STATES + TIMELINE + FIT, stated=lambda quantity, column: quantity.name == "memory")
    assert model.cells[Key("memory", Column(pool="main"))].expression is None
    assert not rows(model, "gpu")


def test_a_check_stands_where_all_that_it_reads_is_used(lowered):
    checks = 'odd = given("Odd")\nsome = require(shards > 0, "no ranks: set shards", source="a test")\n'
    checks += 'other = require(odd > 0, "no odd", source="a test")\n'
    model = lowered(STATES + checks + TIMELINE)
    assert set(rows(model, "some")) == {"actor", "critic"} and not rows(model, "other") and not rows(model, "odd")
    assert set(map(str, model.checks())) == {"some [actor]", "some [critic]"}
    assert values(model, size=1, shards=1, shards_critic=-1)["some [critic]"] == 1


def test_expressions_are_shared_by_the_cells_of_a_row(lowered):
    model = lowered(STATES + TIMELINE)
    first, second = (model.cells[Key("weights", Column(role, "main", "trainer"))] for role in ("actor", "critic"))
    assert first.expression is second.expression and first.refs != second.refs
    assert all(isinstance(symbol, sympy.Dummy) for symbol in first.refs)
