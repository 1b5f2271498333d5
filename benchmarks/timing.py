"""What the benchmarks share: the best of several turns, and a line that says whether a limit is kept."""

import sys
import time
from collections.abc import Callable
from pathlib import Path

# A benchmark measures the checkout that it lies in, installed or not.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

#: Set by `report`, read by `finish`.
_exceeded: list[str] = []


def best(*works: Callable[[], object], turns: int = 5) -> list[float]:
    """The shortest time of each work in seconds. Each turn runs one after the other, so that a busy machine slows all."""
    times = []
    for _ in range(turns):
        turn = []
        for work in works:
            start = time.perf_counter()
            work()
            turn.append(time.perf_counter() - start)
        times.append(turn)
    return [min(column) for column in zip(*times, strict=True)]


def report(what: str, figure: float, unit: str, limit: float | None = None) -> None:
    """Print one figure, and its limit if it has one."""
    kept = limit is None or figure <= limit
    if not kept:
        _exceeded.append(what)
    bound = "" if limit is None else f"  limit {limit:g} {unit}{'' if kept else ': EXCEEDED'}"
    print(f"  {what:<52} {figure:10.3f} {unit}{bound}")


def require(condition: bool, what: str) -> None:
    """Print whether something that a benchmark relies on holds, such as equal results."""
    if not condition:
        _exceeded.append(what)
    print(f"  {what}: {'yes' if condition else 'NO'}")


def finish() -> None:
    """End with exit code 1 when a limit was exceeded or something did not hold."""
    sys.exit(1 if _exceeded else 0)
