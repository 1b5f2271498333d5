"""What a scenario file may say, and what is said where it may not: every mistake at once, with its line."""

from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from memsheet import evaluate, reader, scenario, values
from memsheet.model import Column, Key
from memsheet.reader import InputError

CASES = yaml.safe_load((Path(__file__).parent / "cases" / "scenario.yaml").read_text(encoding="utf-8"))
TRAINING = "title: t\nextends: base/training\ninputs: {gpu: a10g, model: llama-7b, method: lora}\n"
TRAINER = Column("trainer", "main", "trainer")


def load(folder: Path, text: str, *settings: tuple[str, str]) -> scenario.Scenario:
    path = folder / "file.yaml"
    path.write_text(text, encoding="utf-8")
    return scenario.load(str(path), settings)


def mistakes(folder: Path, text: str, *settings: tuple[str, str]) -> list[str]:
    """Every mistake, with "file" for the file's path."""
    with pytest.raises(InputError) as caught:
        load(folder, text, *settings)
    return [str(mistake).replace(str(folder / "file.yaml"), "file") for mistake in caught.value.mistakes]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_a_mistake_is_named_with_its_line(tmp_path, case):
    found = mistakes(tmp_path, case["text"], *((key, str(value)) for key, value in case.get("set", {}).items()))
    assert len(found) == len(case["mistakes"]), found
    for message, expected in zip(found, case["mistakes"], strict=True):
        assert message.startswith(expected)


# --- what is stated reaches the cells ---


def values_of(loaded: scenario.Scenario, row: str) -> dict[str, object]:
    return {str(key.column): values.shown(cell.quantity, loaded.inputs[key]) for key, cell in loaded.model.inputs.items() if key.row == row}


@pytest.mark.parametrize("name", scenario.names())
def test_every_built_in_scenario_is_without_mistakes(name):
    loaded = scenario.load(name)
    assert loaded.name == name and loaded.title
    assert loaded.refusals() == []
    assert loaded.verdict()


def test_a_role_goes_before_its_process_and_a_process_before_the_scenario():
    text = reader.parse(
        "title: t\nschedule: ppo_hugging_face\n"
        "inputs: {gpu: a10g, model: llama-7b, batch_size: 1, micro_batch_size: 1, scoring_batch_size: 1, sequence_length: 16, "
        "response_length: 8, loss: policy, method: lora, lora_rank: 1}\n"
        "processes: {trainer: {lora_rank: 2}}\n"
        "pools: {main: {lora_rank: 3}}\n"
        "roles: {critic: {lora_rank: 4}}\n", "other",
    )  # fmt: skip
    tree = reader.Mapping(text.items, reader.Place("top", 1), text.keys)  # as if extended: what is set aside is no mistake
    loaded = scenario.build(tree, "t", scenario.declaration())
    assert values_of(loaded, "lora_rank") == {"actor": 2, "critic": 4}


def test_the_command_line_goes_before_the_file_for_the_same_owner(tmp_path):
    text = TRAINING + "roles: {trainer: {lora_rank: 8}}\n"
    assert values_of(load(tmp_path, text), "lora_rank") == {"trainer": 8}
    assert values_of(load(tmp_path, text, ("trainer.lora_rank", "32")), "lora_rank") == {"trainer": 32}
    assert values_of(load(tmp_path, text, ("gpu", "l4"), ("gpu", "h100-80gb")), "gpu") == {"main": "h100-80gb"}


@pytest.mark.parametrize(
    ("key", "text", "expected"),
    [
        ("critic.lora_rank", "7", {"actor": 64, "critic": 7}),
        ("trainer.allocator_overhead", "2.5", {"trainer": 2.5}),
        ("main.gpu", "a10g", {"main": "a10g"}),
    ],
)
def test_the_command_line_may_name_a_role_a_process_or_a_pool(key, text, expected):
    assert values_of(scenario.load("h200-ppo-lora", ((key, text),)), key.partition(".")[2]) == expected


def test_a_pool_of_its_own_gets_a_card_of_its_own(tmp_path):
    text = "title: t\nextends: h200-ppo-lora\nroles: {critic: {pool: second}}\npools: {second: {gpu: a10g}}\n"
    loaded = load(tmp_path, text)
    assert values_of(loaded, "gpu") == {"main": "h200-141gb", "second": "a10g"}
    assert [card.pool for card in loaded.model.layout.cards] == ["main", "second"]


def test_a_catalogue_figure_may_be_stated_instead(tmp_path):
    looked_up, stated = load(tmp_path, TRAINING), load(tmp_path, TRAINING, ("cuda_memory", "100 GiB"), ("number_of_layers", "16"))
    memory, layers = Key("cuda_memory", Column(pool="main")), Key("number_of_layers", TRAINER)
    assert looked_up.values[memory] == 23684186112 and looked_up.values[layers] == 32
    assert stated.values[memory] == 100 * 2**30 and stated.values[layers] == 16
    assert stated.values[Key("weights", TRAINER)] < looked_up.values[Key("weights", TRAINER)]
    assert memory in stated.inputs and memory not in looked_up.inputs


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("[q_proj, v_proj]", {"query", "value"}),
        ("q_proj", {"query"}),
        ("all-linear", {"query", "key", "value", "output", "gate", "up", "down"}),
        ("[all-linear, q_proj]", {"query", "key", "value", "output", "gate", "up", "down"}),
    ],
)
def test_a_list_of_projections_sets_the_input_of_each(tmp_path, written, expected):
    loaded = load(tmp_path, TRAINING + f"roles: {{trainer: {{lora_targets: {written}}}}}\n")
    adapters = {key.row.removeprefix("adapter_on_"): value for key, value in loaded.inputs.items() if key.row.startswith("adapter_on_")}
    assert adapters == {name: int(name in expected) for name in ("query", "key", "value", "output", "gate", "up", "down")}


def test_a_list_of_projections_on_the_command_line(tmp_path):
    assert load(tmp_path, TRAINING, ("lora_targets", "q_proj, k_proj")).inputs[Key("adapter_on_key", TRAINER)] == 1
    assert load(tmp_path, TRAINING, ("trainer.lora_targets", "q_proj")).inputs[Key("adapter_on_key", TRAINER)] == 0


def test_the_default_of_an_input_holds_where_nothing_is_stated(tmp_path):
    loaded = load(tmp_path, TRAINING)
    assert values_of(loaded, "lora_rank") == {"trainer": scenario.declaration()["lora_rank"].default}
    assert Key("lora_rank", TRAINER) not in loaded.places
    assert loaded.places[Key("method", TRAINER)].line == 3


def test_pipeline_stages_of_a_role_or_its_process_split_the_cards():
    stages = ["first", "middle", "last"]
    assert [card.stage for card in scenario.load("seed-3-large").model.layout.cards] == stages
    for key in ("pipeline_parallel_size", "critic.pipeline_parallel_size", "trainer.pipeline_parallel_size"):
        assert [card.stage for card in scenario.load("h200-ppo-lora", ((key, "4"),)).model.layout.cards] == stages


# --- layers ---


def test_a_scenario_may_extend_one_that_extends_another(tmp_path):
    (tmp_path / "middle.yaml").write_text("title: middle\nextends: base/training\ninputs: {gpu: l4, model: llama-7b, method: full}\n")
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "lowest.yaml").write_text("title: lowest\nextends: ../middle\ninputs: {gpu: a10g}\n")
    loaded = load(tmp_path, "extends: below/lowest.yaml\ninputs: {sequence_length: 128}\n")
    assert loaded.title == "lowest"
    assert values_of(loaded, "gpu") == {"main": "a10g"} and values_of(loaded, "sequence_length") == {"": 128}
    assert loaded.assumptions == scenario.load("base/training", (("gpu", "l4"), ("model", "llama-7b"), ("method", "full"))).assumptions


def test_a_mistake_of_a_base_is_reported_where_it_is(tmp_path):
    (tmp_path / "base.yaml").write_text("title: t\nextends: base/training\n\ninputs: {gpu: a10}\n")
    (found, *_) = mistakes(tmp_path, "extends: base.yaml\ninputs: {model: llama-7b, method: full}\n")
    assert found.startswith(f"{tmp_path / 'base.yaml'}:4: 'a10' is not a word of gpu")


def test_a_base_that_is_no_yaml_is_reported_where_it_is(tmp_path):
    (tmp_path / "base").write_bytes(b"\xff\xfe")
    assert mistakes(tmp_path, "title: t\nextends: base\n") == [f"{tmp_path / 'base'}: is not UTF-8 text: save it as UTF-8"]


def test_a_circle_of_two_is_found(tmp_path):
    (tmp_path / "other.yaml").write_text("extends: file.yaml\n")
    (found,) = mistakes(tmp_path, "title: t\nextends: other.yaml\n")
    assert found.endswith("extends runs through more than 8 files: is there a circle?")


def test_a_base_may_state_for_all_what_the_extending_file_states_for_each(tmp_path):
    (tmp_path / "base.yaml").write_text(TRAINING.replace("method: lora", "method: lora, lora_rank: 8"))
    loaded = load(tmp_path, "title: t\nextends: base.yaml\nroles: {trainer: {lora_rank: 16}}\n")
    assert values_of(loaded, "lora_rank") == {"trainer": 16}


def test_the_command_line_may_state_for_one_role_what_the_file_states_for_all(tmp_path):
    assert values_of(load(tmp_path, TRAINING, ("trainer.method", "full")), "method") == {"trainer": "full"}


@pytest.mark.parametrize("name", ["h200-ppo-lorra", "no such thing", "", "../scenarios", "a" * 400, "file\0.yaml", "missing.yaml"])
def test_an_unknown_scenario_is_named_with_what_there_is(name):
    with pytest.raises(InputError, match="no such scenario file or built-in scenario") as caught:
        scenario.load(name)
    assert all(known in str(caught.value) for known in scenario.names())


def test_the_nearest_name_of_a_scenario_is_offered():
    with pytest.raises(InputError, match=r"Did you mean h200-ppo-lora\?"):
        scenario.load("h200-ppo-lorra")


# --- texts stay texts ---


@pytest.mark.parametrize(
    "title", ["=1+1", '=HYPERLINK("http://x","y")', "<script>alert(1)</script>", "@SUM(A1)", "-2+3", "a: {b}", "%s {0}", "你好 😀"]
)  # fmt: skip
def test_a_title_is_kept_as_it_was_written(tmp_path, title):
    loaded = load(tmp_path, yaml.safe_dump({"title": title}, allow_unicode=True) + TRAINING.partition("\n")[2])
    assert loaded.title == title


# --- whatever is written ---

INPUTS = [name for name, row in scenario.declaration().rows.items() if row.is_given]
WORDS = sorted({word for row in scenario.declaration().rows.values() for word in row.choices})
SCALARS = st.one_of(
    st.sampled_from(WORDS), st.integers(-2, 2**40).map(str), st.floats().map(str),
    st.sampled_from(["", "no", "10%", "1 GiB", "[]", "[q_proj]", "{}"]),
)  # fmt: skip
BLOCKS = st.dictionaries(st.sampled_from([*INPUTS, "lora_targets", "pool", "weights", "nothing"]), SCALARS, max_size=5)


@st.composite
def files(draw: st.DrawFn) -> str:
    """Text like that of a scenario file, right or wrong."""

    def block(entries: dict[str, str]) -> str:
        return "{" + ", ".join(f"{key}: {value or '~'}" for key, value in entries.items()) + "}"

    lines = [
        f"title: {draw(st.sampled_from(['t', 't', '', '[a]', '=1']))}",
        f"schedule: {draw(st.sampled_from(['training', 'training', 'inference', 'ppo_verl', 'x']))}",
    ]
    base = {"gpu": "h200-141gb", "model": "llama-7b", "method": "lora", "batch_size": "4", "micro_batch_size": "2", "sequence_length": "64",
            "response_length": "32"}  # fmt: skip
    lines.append("inputs: " + block(base | draw(st.just({}) | BLOCKS)))
    for kind, owners in (("roles", ["trainer", "model", "actor"]), ("processes", ["trainer", "engine"]), ("pools", ["main"])):
        for owner in draw(st.lists(st.sampled_from(owners), max_size=1)):
            lines.append(f"{kind}: {{{owner}: {block(draw(BLOCKS))}}}")
    text = "\n".join(draw(st.permutations(lines))) + "\n"
    if draw(st.integers(0, 5)) == 0:
        cut = draw(st.integers(0, len(text)))
        text = text[:cut] + draw(st.sampled_from(["\n", ":", "[", "}", "&a ", "\t", "'", "- "])) + text[cut:]
    return text


@settings(max_examples=250, deadline=None, derandomize=True)
@given(files())
def test_anything_gives_a_scenario_that_can_be_computed_or_an_input_error(text):
    try:
        loaded = scenario.build(reader.parse(text, "file"), "file", scenario.declaration())
    except InputError as error:
        assert error.mistakes
        return
    assert loaded.values.keys() == loaded.model.cells.keys()
    assert loaded.verdict() and isinstance(loaded.refusals(), list)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.data())
def test_every_value_within_the_limits_can_be_computed(data):
    """Dividing by nothing, or by what a formula makes nothing, would show here."""
    loaded = scenario.load(data.draw(st.sampled_from(["h200-ppo-lora", "seed-3-large", "table-1-inference-7b"])))
    chosen = {}
    for key, cell in loaded.model.inputs.items():
        low, high = cell.quantity.limits
        if cell.quantity.choices:
            chosen[key] = data.draw(st.integers(0, len(cell.quantity.choices) - 1))
        else:
            top = min(high if high is not None else 10**12, 10**12)
            whole = st.integers(int(low), int(top))
            chosen[key] = data.draw(st.sampled_from([low, top]) | (whole if cell.quantity.whole else whole | st.floats(low, top)))
    found = evaluate.scalar(loaded.model)(chosen)
    assert all(isinstance(value, str) or value == value for value in found.values())
