"""Batches: workbooks and reports of many scenarios, several at once; one that fails does not stop the others."""

import multiprocessing
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from . import files
from .reader import InputError, Mistake, Place


@dataclass(frozen=True)
class Job:
    """One scenario to build. `settings` are laid over it; without `pdf` only the workbook is written."""

    scenario: str
    settings: tuple[tuple[str, str], ...]
    out: Path
    pdf: bool
    language: str
    formulas: Path | None = None

    @property
    def stem(self) -> str:
        """The name of its files, without their endings."""
        return re.sub(r"[^\w.-]", "_", Path(self.scenario).stem)


@dataclass(frozen=True)
class Outcome:
    """What became of a job: the files written, and why one is missing."""

    job: Job
    files: tuple[Path, ...] = ()
    verdict: str = ""
    problems: tuple[str, ...] = ()


def run(job: Job) -> Outcome:
    """Build one scenario. Whatever goes wrong is told in the outcome; no half-written file is left."""
    from . import scenario, workbook

    written: list[Path] = []
    verdict = ""
    try:
        loaded = scenario.load(job.scenario, job.settings, scenario.declaration(job.formulas))
        if refusals := loaded.refusals():
            raise InputError([Mistake(Place(job.scenario, 0), f"not covered: {refusal}") for refusal in refusals])
        verdict = loaded.verdict()
        job.out.mkdir(parents=True, exist_ok=True)
        book = workbook.contents(loaded, job.language)
        files.replace(job.out / f"{job.stem}.xlsx", book)
        written.append(job.out / f"{job.stem}.xlsx")
        if job.pdf:
            from . import report

            report.write(loaded, job.out / f"{job.stem}.pdf", workbook=book, language=job.language)
            written.append(job.out / f"{job.stem}.pdf")
    except InputError as error:
        return Outcome(job, tuple(written), verdict, tuple(map(str, error.mistakes)))
    except Exception as error:  # one scenario must not end the batch, and a user is not shown a traceback
        return Outcome(job, tuple(written), verdict, (f"{type(error).__name__}: {error}",))
    return Outcome(job, tuple(written), verdict)


def run_all(jobs: list[Job], workers: int) -> Iterator[Outcome]:
    """Outcomes as they come. Of two jobs that would write the same files the second is refused."""
    first: dict[str, Job] = {}
    for job in jobs:
        if (other := first.setdefault(job.stem, job)) is not job:
            yield Outcome(job, problems=(f"{job.stem}.xlsx is made from {other.scenario} already: rename one of the two files",))
    jobs = list(first.values())
    if workers == 1 or len(jobs) == 1:
        yield from map(run, jobs)
        return
    # Pool and not ProcessPoolExecutor, whose max_tasks_per_child hangs on Python 3.11.
    with multiprocessing.Pool(min(workers, len(jobs)), maxtasksperchild=50) as pool:
        yield from pool.imap_unordered(run, jobs)
