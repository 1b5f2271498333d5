"""How long memsheet takes from nothing to an answer, and how long bare Python and sympy take to start.

    python benchmarks/startup.py

Each command runs in a process of its own. Also checks that --help imports nothing heavy.
"""

import os
import re
import subprocess
import sys
from collections.abc import Callable

import timing

HELP_SECONDS, ESTIMATE_SECONDS, COMPILE_SECONDS = 0.15, 1.5, 0.5
ESTIMATE = ("estimate", "--model", "llama-7b", "--method", "lora", "--gpu", "a10g")
HEAVY = ("sympy", "openpyxl", "pydantic", "yaml", "weasyprint", "numpy")
ENVIRONMENT = os.environ | {"PYTHONPATH": sys.path[0]}

#: Prints the seconds of what is asked for: every formula is declared, lowered and compiled, in a process that has
#: imported the libraries but none of ours.
COMPILE = """
import time
import click, pydantic, sympy, yaml, difflib, graphlib
start = time.perf_counter()
from memsheet import evaluate, scenario
loaded = scenario.load({name!r})
evaluate.scalar(loaded.model)
print(time.perf_counter() - start)
"""


def python(*arguments: str) -> str:
    """What a Python process prints. Raises CalledProcessError when it fails."""
    return subprocess.run([sys.executable, *arguments], env=ENVIRONMENT, check=True, capture_output=True, text=True).stdout


def memsheet(*arguments: str) -> Callable[[], object]:
    return lambda: python("-c", "import sys; from memsheet.cli import main; sys.argv[0] = 'memsheet'; main()", *arguments)


def imported_by_help() -> set[str]:
    """The packages that `memsheet --help` imports."""
    command = [sys.executable, "-X", "importtime", "-c", "from memsheet.cli import main; main()", "--help"]
    shown = subprocess.run(command, env=ENVIRONMENT, check=True, capture_output=True, text=True).stderr
    return {name.partition(".")[0] for name in re.findall(r"^import time:.*\| +(\S+)$", shown, re.MULTILINE)}


def main() -> None:
    memsheet(*ESTIMATE)()  # writes the .pyc files, as an installer does
    bare, with_sympy, help_, estimate = timing.best(
        lambda: python("-c", "pass"), lambda: python("-c", "import sympy"), memsheet("--help"), memsheet(*ESTIMATE)
    )  # fmt: skip
    print("From nothing to an answer")
    timing.report("python -c pass", bare, "s")
    timing.report("python -c 'import sympy'", with_sympy, "s")
    timing.report("memsheet --help", help_, "s", HELP_SECONDS)
    timing.report("memsheet estimate --model llama-7b …", estimate, "s", ESTIMATE_SECONDS)
    timing.report("of which bare Python and sympy", with_sympy / estimate, "")

    print("\nLoad, lower and compile all formulas, libraries imported")
    for name in ("h200-ppo-lora", "seed-3-large"):
        timing.report(name, min(float(python("-c", COMPILE.format(name=name))) for _ in range(5)), "s", COMPILE_SECONDS)

    heavy = imported_by_help().intersection(HEAVY)
    print()
    timing.require(not heavy, f"--help imports none of {', '.join(HEAVY)}{': ' + ', '.join(sorted(heavy)) if heavy else ''}")
    timing.finish()


if __name__ == "__main__":
    main()
