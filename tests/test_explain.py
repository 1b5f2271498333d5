"""Explanations: that they say what the cells say, lead all the way down, and answer a misspelt name."""

import json

import pytest

from memsheet import evaluate, explain, nodes, scenario, terminal
from memsheet.reader import InputError


@pytest.fixture(scope="module")
def loaded():
    return scenario.load("h200-ppo-lora", (("actor.lora_rank", "8"),))


def one(loaded, selector: str) -> explain.Explanation:
    (found,) = explain.explain(loaded, selector)
    return found


def row(loaded, name: str):
    return [key for key in loaded.model.cells if key.row == name]


# --- selectors ---


def test_a_row_is_explained_in_all_its_columns(loaded):
    assert [found.column["role"] for found in explain.explain(loaded, "gradients")] == ["actor", "critic"]
    assert [found.column["instant"] for found in explain.explain(loaded, "allocated")] == [i.name for i in loaded.model.layout.instants]


@pytest.mark.parametrize(
    "selector", ["weights@actor", "weights@actor@load", "allocated@actor_update", "allocated@trainer@load", "peak", "peak@main"]
)
def test_a_selector_narrows_to_one_cell(selector, loaded):
    assert one(loaded, selector).quantity == selector.split("@")[0]


def test_a_meaning_of_the_headline_is_a_name(loaded):
    assert one(loaded, "capacity").quantity == "cuda_memory"


def test_what_a_role_holds_at_an_instant_is_asked_for_by_the_instant(loaded):
    assert one(loaded, "weights@actor").formula != "weights"
    assert one(loaded, "weights@actor@load").formula == "weights"


@pytest.mark.parametrize(
    ("selector", "message"),
    [
        ("gradiens", r"^gradiens: nothing is called 'gradiens'\. Did you mean gradients\?$"),
        ("capacty", r"Did you mean capacity\?"),
        ("gradients@acter", r"gradients has no column 'acter' \(actor, critic.*\)\. Did you mean actor\?"),
        ("gradients@actor@sleep", "gradients has no column 'sleep'"),
        ("batch_size@actor", "batch_size has no column 'actor': it has one value for the whole scenario"),
        ("gradients@", "gradients has no column ''"),
        ("engine_budget", "nothing in this scenario reads engine_budget"),
        ("", "nothing is called ''"),
    ],
)
def test_a_wrong_selector_names_the_nearest(selector, message, loaded):
    with pytest.raises(InputError, match=message):
        explain.explain(loaded, selector)


def test_a_wrong_selector_does_not_repaint_the_terminal(loaded):
    with pytest.raises(InputError) as error:
        explain.explain(loaded, "\x1b[2J@\x1b[2J")
    assert "\x1b" not in str(error.value)


# --- what an explanation says ---


def test_every_cell_can_be_reached_by_its_selector_and_says_its_value(loaded):
    for key in loaded.model.cells:
        found = one(loaded, explain.selector_of(key))
        assert found.key == key
        assert found.text == terminal.value_text(loaded.model.cells[key].quantity, loaded.values[key])
        assert (found.formula == "") == (loaded.model.cells[key].expression is None)


def test_the_formula_the_numbers_and_the_parts(loaded):
    found = one(loaded, "weights@actor")
    assert found.formula == "base parameters × weight width ÷ weight shards"
    assert found.numbers == "6,738,415,616 × 2 B ÷ 1"
    assert found.value == 2 * 6_738_415_616
    assert {part.selector for part in found.parts} == {"weight_width@actor", "base_parameters@actor", "weight_shards@actor"}
    assert found.declared.startswith("formulas/states.py:")


def test_parts_lead_from_the_peak_down_to_inputs(loaded):
    """Following any part of any part, no selector fails and every path ends at inputs."""
    seen, todo = set(), ["peak"]
    while todo:
        selector = todo.pop()
        if selector not in seen:
            seen.add(selector)
            found = one(loaded, selector)
            assert found.parts or found.origin or found.formula.replace(",", "").isdigit(), selector
            todo.extend(part.selector for part in found.parts)
    assert {"lora_rank@actor", "gpu@main", "batch_size"} <= seen
    assert not any("@actor@load" in selector for selector in seen), "a part is the cell behind a copy"


def test_the_parts_that_won_lead_to_what_binds(loaded):
    path, selector = [], "peak"
    while True:
        found = one(loaded, selector)
        path.append(found.quantity)
        leading = [part for part in found.parts if part.won] or [part for part in found.parts if part.value == found.value]
        if not leading or len(path) > 10:
            break
        selector = leading[0].selector
    assert path[0] == "peak" and len(path) >= 3
    assert one(loaded, "peak").decisions[0].text == one(loaded, "peak").text


# --- decisions ---


def test_the_branch_that_was_taken(loaded):
    (decision,) = one(loaded, "adapter_width@actor").decisions
    assert (decision.kind, decision.taken, decision.result, decision.text) == ("branch", "adapter precision is fp32", "fp32", "4 B")


def test_a_nested_branch_is_followed():
    outer, inner = one(scenario.load("table-1-full-7b"), "head_norm_width@trainer").decisions
    assert (outer.taken, outer.depth) == ("method is full", 0)
    assert (inner.taken, inner.depth) == ("precision is fp32 or amp", 1)


def test_the_branch_not_taken_is_not_followed(loaded):
    assert [decision.taken for decision in one(loaded, "head_norm_width@actor").decisions] == ["otherwise"]


def test_every_decision_is_the_one_that_the_value_took(loaded):
    """The largest is not below any other, and where a formula is nothing but a decision, it has the formula's value."""
    decided = 0
    for key, cell in loaded.model.cells.items():
        found = one(loaded, explain.selector_of(key))
        if found.decisions and cell.expression.func.__name__ in ("Piecewise", "Max", "Min", "Highest"):
            assert found.decisions[0].text == found.text, key
            decided += 1
    assert decided > 50


def test_the_largest_of_a_range_is_named(loaded):
    decision, instant = one(loaded, "peak").decisions[0], loaded.headline("peak_instant", loaded.tightest_card())
    name = next(i.name for i in loaded.model.layout.instants if i.label == instant)
    assert decision.taken.endswith(f"at {name.replace('_', ' ')}")
    assert [part.selector for part in one(loaded, "peak").parts if part.won] == [f"least_device@main@{name}"]


def test_a_running_maximum_says_what_stays_from_the_instant_before(loaded):
    found = one(loaded, "reserved@critic_score")
    assert "reserved at ref log prob" in found.formula
    assert found.decisions[0].kind == "largest"


def test_a_row_of_words(loaded):
    found = one(loaded, "verdict")
    assert found.value == found.text == loaded.verdict()
    assert found.decisions[0].text == found.text


# --- where an input comes from ---


@pytest.mark.parametrize(
    ("selector", "origin"),
    [
        ("lora_rank@actor", "stated in --set actor.lora_rank"),
        ("lora_rank@critic", "stated in h200-ppo-lora.yaml:"),
        ("allocator_overhead", "stated in ppo-hugging-face.yaml:"),
        ("optimizer@actor", "default"),
        ("cuda_memory", "catalogue gpus, row h200-141gb (NVIDIA H200 141 GB): "),
        ("weights@actor", ""),
    ],
)
def test_origin(selector, origin, loaded):
    found = one(loaded, selector)
    assert found.origin.startswith(origin) and bool(found.origin) == bool(origin)


def test_a_stated_figure_of_a_catalogue_is_stated():
    own = scenario.load("h200-ppo-lora", (("cuda_memory", "80GiB"),))
    assert one(own, "cuda_memory").origin == "stated in --set cuda_memory"


# --- how it is shown ---


def test_the_terminal_shows_the_way_on(loaded):
    text = explain.render(one(loaded, "peak"), colour=False)
    assert "\x1b" not in text and "\x1b[1m" in explain.render(one(loaded, "peak"), colour=True)
    assert f"  = {one(loaded, 'peak').text} (" in text and "bytes)" in text
    assert "> least_device@main@" in text
    assert max(map(len, text.splitlines())) <= 130


def test_json_holds_the_same(loaded):
    found = one(loaded, "gradients@critic")
    again = json.loads(json.dumps(explain.as_dict(found)))
    assert again["value"] == loaded.values[found.key] and again["unit"] == "byte"
    assert again["column"]["role"] == "critic" and "key" not in again
    assert [part["selector"] for part in again["parts"]] == [part.selector for part in found.parts]


def test_pieces_are_evaluated_like_the_cell(loaded):
    """The value of a piece that is the whole formula is the cell's value, to the last bit."""
    for key, cell in loaded.model.cells.items():
        whole = cell.expression
        if whole is not None and not isinstance(whole, nodes.Lookup):
            explainer = explain._Explainer(loaded, key)
            assert explainer.value(whole) == loaded.values[key], key
    assert evaluate.scalar(loaded.model)(loaded.inputs) == loaded.values
