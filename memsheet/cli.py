"""The command line. It only reads options and prints; what it prints is made elsewhere.

Heavy modules are imported inside the commands, so that --help answers at once.

Exit codes: 0 done; 1 something could not be made; 2 wrong input; 3 the formulas do not cover the configuration.
"""

import functools
import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from . import __version__

if TYPE_CHECKING:
    from .scenario import Scenario

FAILED, WRONG_INPUT, NOT_COVERED = 1, 2, 3


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="memsheet")
def main() -> None:
    """How much GPU memory will this need, and which cards are enough?

    SCENARIO is the name of a built-in scenario or a YAML file.
    """


FORMULAS = click.option(
    "--formulas",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="A folder with more chapters. It is code and is run.",
)


def scenario_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that every command takes, gathered into `settings`; wrong input ends with exit code 2."""

    @click.option("--set", "sets", metavar="KEY=VALUE", multiple=True, help="Set an input; for one role: actor.lora_rank=64. Repeatable.")
    @click.option("--gpu", metavar="NAME", help="The card, a word of the GPU catalogue.")
    @FORMULAS
    @functools.wraps(command)
    def wrapped(sets: tuple[str, ...], gpu: str | None, formulas: Path | None, **options: Any) -> None:
        settings = [_setting(text) for text in sets]
        if gpu:
            settings.append(("gpu", gpu))
        with _mistakes_told():
            command(settings=tuple(settings), formulas=formulas, **options)

    return wrapped


@contextmanager
def _mistakes_told() -> Iterator[None]:
    """Wrong input, and wrong formulas of a user's own, end with their messages and exit code 2."""
    from .printers.base import PrintError
    from .quantity import DeclarationError
    from .reader import InputError

    try:
        yield
    except InputError as error:
        messages = [str(mistake) for mistake in error.mistakes]
    except (DeclarationError, PrintError) as error:
        messages = [str(error)]
    except ArithmeticError as error:
        messages = [f"these inputs make a formula fail ({error}): look for one that is zero or far too large"]
    else:
        return
    for message in messages:
        click.echo(f"memsheet: {message}", err=True)
    sys.exit(WRONG_INPUT)


def _setting(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise click.BadParameter(f"{text!r} is not KEY=VALUE", param_hint="--set")
    return key.strip(), value.strip()


def _load(name: str, settings: tuple[tuple[str, str], ...], formulas: Path | None) -> "Scenario":
    from . import scenario

    return scenario.load(name, settings, scenario.declaration(formulas))


def _colour() -> bool:
    from . import terminal

    return terminal.wants_colour(sys.stdout)


def _end_if_refused(*scenarios: "Scenario") -> None:
    """Say why the formulas do not cover a scenario, and end with the exit code for it."""
    refusals = [f"memsheet: {one.name}: not covered: {why}" for one in scenarios for why in one.refusals()]
    for line in refusals:
        click.echo(line, err=True)
    if refusals:
        sys.exit(NOT_COVERED)


def _print_json(data: object) -> None:
    click.echo(json.dumps(data, ensure_ascii=False, indent=2))


@main.command()
@click.argument("scenarios", nargs=-1, metavar="[SCENARIO]...")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), default=Path("out"), show_default=True, help="Where the files go.")
@click.option("--jobs", type=click.IntRange(1, 256), default=os.cpu_count() or 1, show_default="all cores", help="Scenarios at once.")
@click.option("--no-pdf", is_flag=True, help="Workbooks only.")
@click.option("--lang", type=click.Choice(["en", "zh"]), default="en", show_default=True, help="Language of workbooks and reports.")
@scenario_options
def build(
    scenarios: tuple[str, ...], out: Path, jobs: int, no_pdf: bool, lang: str, settings: tuple[tuple[str, str], ...], formulas: Path | None
) -> None:
    """Write a workbook and a report for each scenario (all built-in ones if none is named)."""
    from . import batch, scenario, terminal

    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise click.BadParameter(f"{str(out)[:100]}: {error.strerror}", param_hint="--out") from None
    if not os.access(out, os.W_OK):
        raise click.BadParameter(f"{out} cannot be written to", param_hint="--out")
    work = [batch.Job(name, settings, out, not no_pdf, lang, formulas) for name in scenarios or scenario.names()]
    failed = []
    for done, outcome in enumerate(batch.run_all(work, jobs), 1):
        what = ", ".join(path.name for path in outcome.files) or "nothing written"
        click.echo(f"[{done}/{len(work)}] {outcome.job.scenario}: {outcome.verdict or 'failed'} ({what})", err=True)
        if outcome.problems:
            failed.append(outcome)
    if failed:
        rows = [[outcome.job.scenario, problem] for outcome in failed for problem in outcome.problems]
        click.echo("\n" + terminal.table(rows, ["Failed", "Why"]), err=True)
        sys.exit(FAILED)


@main.command()
@click.argument("scenario", required=False)
@click.option("--model", metavar="NAME", help="The model, a word of the model catalogue.")
@click.option("--method", type=click.Choice(["full", "lora", "p_tuning", "inference"]), help="What is done with it; else full.")
@click.option("--json", "as_json", is_flag=True, help="For machines; sizes in bytes.")
@scenario_options
def estimate(
    scenario: str | None, model: str | None, method: str | None, as_json: bool, settings: tuple[tuple[str, str], ...], formulas: Path | None
) -> None:
    """Say whether it fits, and what is on the card at each instant.

    Without SCENARIO: memsheet estimate --model llama-7b --method lora --gpu a10g
    """
    from . import estimate as estimates

    chosen = [("model", model)] if model else []
    if scenario is None:
        if model is None:
            raise click.UsageError("name a SCENARIO, or a --model")
        scenario = "base/inference" if method == "inference" else "base/training"
        if method != "inference":
            chosen.append(("method", method or "full"))
    elif method:
        raise click.UsageError("--method is for an estimate without SCENARIO; here use --set method=… or --set ROLE.method=…")
    loaded = _load(scenario, (*chosen, *settings), formulas)
    if as_json:
        _print_json(estimates.as_dict(loaded))
    elif not loaded.refusals():
        click.echo(estimates.render(loaded, colour=_colour()))
    _end_if_refused(loaded)


@main.command()
@click.argument("scenario")
@click.argument("quantity")
@click.option("--json", "as_json", is_flag=True, help="For machines.")
@scenario_options
def explain(scenario: str, quantity: str, as_json: bool, settings: tuple[tuple[str, str], ...], formulas: Path | None) -> None:
    """Show a quantity's formula, its numbers, its parts, which branch or term won, and its sources.

    QUANTITY is a name such as peak, weights@actor or allocated@actor_update.
    """
    from . import explain as explanations

    loaded = _load(scenario, settings, formulas)
    found = explanations.explain(loaded, quantity)
    if as_json:
        _print_json([explanations.as_dict(one) for one in found])
    else:
        click.echo("\n\n".join(explanations.render(one, colour=_colour()) for one in found))
    _end_if_refused(loaded)


@main.command()
@click.argument("a")
@click.argument("b")
@click.option("--json", "as_json", is_flag=True, help="For machines; sizes in bytes.")
@scenario_options
def diff(a: str, b: str, as_json: bool, settings: tuple[tuple[str, str], ...], formulas: Path | None) -> None:
    """Show what changed between two scenarios, term by term."""
    from . import diff as differences

    both = _load(a, settings, formulas), _load(b, settings, formulas)
    found = differences.diff(*both)
    if as_json:
        _print_json(differences.as_dict(found))
    else:
        click.echo(differences.render(found, colour=_colour()))
    _end_if_refused(*both)


@main.command()
@click.option("--json", "as_json", is_flag=True, help="For machines.")
@FORMULAS
def formulas(as_json: bool, formulas: Path | None) -> None:
    """List every declared quantity: chapter, name, unit, label, source."""
    from . import scenario, terminal

    with _mistakes_told():
        declaration = scenario.declaration(formulas)
    rows = [
        {"chapter": row.chapter, "name": row.name, "kind": "input" if row.is_given else "formula", "unit": row.unit.name,
         "label": row.label, "choices": list(row.choices), "source": row.source, "note": row.note}
        for row in declaration.rows.values()
    ]  # fmt: skip
    if as_json:
        _print_json(rows)
        return
    columns = ("chapter", "name", "kind", "unit", "label")
    click.echo(terminal.table([[str(row[column]) for column in columns] for row in rows], [column.capitalize() for column in columns]))
