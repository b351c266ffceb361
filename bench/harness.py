"""Contests between mercer and its peers, on the same arrays, in one process, in turns, and only if the results agree."""

import gc
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

#: Seconds between two runs. A library's threads spin for some milliseconds after its work, on the cores of the next run.
REST = 0.05

#: Minimum duration of a sample in seconds; shorter calls are repeated.
SAMPLE = 0.005


@dataclass(frozen=True)
class Settings:
    """Settings of a run: threads, sizes, the folder of the real data sets, and whether slow cases run."""

    threads: int = 2
    quick: bool = False
    data: Path | None = None
    repeat: int | None = None
    slow: bool = False

    def size(self, full, quick):
        """Return the size for a full run, or the smaller one for a quick run."""
        return quick if self.quick else full

    def rounds(self):
        """Return the minimum and maximum number of rounds, and the seconds after which no new round starts."""
        if self.repeat is not None:
            return self.repeat, self.repeat, 0.0
        return (2, 5, 0.4) if self.quick else (3, 20, 5.0)

    def real(self, name):
        """Return X_train, y_train, X_test, y_test of ``name.npz``; an 80% split by permutation if the file has none.

        Raises
        ------
        Unavailable
            If there is no data folder, or no such file in it.
        """
        if self.data is None:
            raise Unavailable("needs --data DIR")
        path = self.data / f"{name}.npz"
        if not path.exists():
            raise Unavailable(f"needs {name}.npz in the data folder")
        with np.load(path) as arrays:
            if "X_train" in arrays:
                return tuple(arrays[part] for part in ("X_train", "y_train", "X_test", "y_test"))
            X, y = arrays["X"], arrays["y"]
        order = np.random.RandomState(0).permutation(len(X))
        train, test = np.split(order, [int(0.8 * len(X))])
        return X[train], y[train], X[test], y[test]


class Unavailable(Exception):
    """Raised if a case cannot run on this machine."""


class Disagreement(Exception):
    """Raised if two contestants disagree, or if one did not run the algorithm that its name states."""


@dataclass(frozen=True)
class Work:
    """The work that no implementation can avoid, which determines the floor.

    ``flops`` and ``exps`` are keyed by precision, "f32" or "f64"; ``fresh`` counts bytes of memory touched for the first
    time and ``streamed`` bytes moved between memory and the cores.
    """

    flops: dict[str, float] = field(default_factory=dict)
    exps: dict[str, float] = field(default_factory=dict)
    fresh: float = 0.0
    streamed: float = 0.0

    def seconds(self, rates):
        """Return the floor on a machine with these `rates`: the sum, since the parts compete for the same cores."""
        seconds = self.fresh / rates["first touch B/s"] + self.streamed / rates["stream B/s"]
        seconds += sum(count / rates[f"gemm {precision} flop/s"] for precision, count in self.flops.items())
        return seconds + sum(count / rates[f"exp {precision} /s"] for precision, count in self.exps.items())


@dataclass(frozen=True)
class Contestant:
    """One library or method that computes the result of a contest.

    ``run`` is timed; ``answer`` converts its result to the array that is compared, and may raise `Disagreement`. For
    mercer, ``bar`` is the required speed relative to the first peer, or a bar for each peer by its label, and ``work`` gives the
    floor. A contestant of a study that is not ``judged`` is for comparison only, and one with ``once`` runs in the first
    round only.
    """

    label: str
    run: Callable[[], Any]
    answer: Callable[[Any], np.ndarray] = lambda result: result
    work: Work | None = None
    bar: float | dict[str, float] | None = None
    judged: bool = True
    once: bool = False

    def bar_against(self, peer, first):
        """Return the bar against `peer`; `first` is the first peer."""
        if isinstance(self.bar, dict):
            return self.bar.get(peer.label)
        return self.bar if peer is first else None


@dataclass(frozen=True)
class Contest:
    """The contestants on one set of arrays.

    ``allowed`` maps a measure of a study to a function from the first peer's value to the largest value allowed for mercer.
    """

    peers: list[Contestant]
    ours: list[Contestant]
    allowed: dict[str, Callable[[float], float]] = field(default_factory=dict)


@dataclass(frozen=True)
class Case:
    """A contest with a name. ``load`` creates its arrays, so that only one case's arrays exist at a time.

    ``tolerance`` bounds max|a − b|/max|b|, where a is mercer's result and b that of the first peer.
    """

    area: str
    name: str
    tolerance: float
    load: Callable[[], Contest]


@dataclass(frozen=True)
class Study:
    """A contest that compares the models on held-out rows.

    The ``answer`` of a contestant is ``{measure: value}``, less being better. By default the first peer's first measure, if any, decides:
    mercer's value may be ``1 + tolerance`` times it; otherwise ``allowed`` of the contest names the deciding measures. A ``slow`` study
    runs each contestant once, and only with ``--slow`` or ``--quick``.
    """

    area: str
    name: str
    tolerance: float
    load: Callable[[], Contest]
    slow: bool = False


@dataclass(frozen=True)
class Estimate:
    """The time of a call as estimated by `mercer plan` and as measured; ``bar`` bounds the larger of the two quotients."""

    area: str
    name: str
    estimate: Callable[[], float]
    load: Callable[[], Callable[[], Any]]
    bar: float | None = None


@dataclass(frozen=True)
class Peak:
    """The peak memory of one call in a fresh process, as a multiple of ``unit`` bytes; ``bar`` bounds it from above."""

    area: str
    name: str
    unit: float
    unit_name: str
    load: Callable[[], Callable[[], Any]]
    bar: float | None = None


def relative_error(found, expected):
    """Return max|found − expected|/max|expected|, by blocks of rows, since the matrices may take half of the memory."""
    found, expected = np.asarray(found), np.asarray(expected)
    if found.shape != expected.shape:
        raise Disagreement(f"shape {found.shape}, expected {expected.shape}")
    worst = largest = 0.0
    for start in range(0, len(expected), 512):
        rows = expected[start : start + 512].astype(np.float64)
        difference = np.abs(found[start : start + 512] - rows)
        # The maximum of an array with a NaN is NaN, which is above every tolerance.
        worst, largest = np.maximum(worst, difference.max()), np.maximum(largest, np.abs(rows).max())
    return float(worst / largest) if largest > 0 else float(worst)


def measure(case, settings):
    """Check one case, time it, and return its record."""
    record = {"area": case.area, "name": case.name, "tolerance": case.tolerance}
    try:
        contest = case.load()
    except Unavailable as reason:
        return record | {"skipped": str(reason)}
    try:
        record["errors"] = _agree(contest, case.tolerance)
    except Disagreement as reason:
        return record | {"disagreement": str(reason)}
    everyone = contest.peers + contest.ours
    samples = _interleave(everyone, *settings.rounds())
    best = {label: min(times) for label, times in samples.items()}
    record["samples"] = samples
    record["noise"] = {label: median(times) / min(times) for label, times in samples.items()}
    record["rows"] = []
    for ours in contest.ours:
        for peer in contest.peers:
            row = {"peer": peer.label, "ours": ours.label}
            row |= {"peer_s": best[peer.label], "ours_s": best[ours.label]}
            row |= {"ratio": best[peer.label] / best[ours.label]}
            row |= {"bar": None if settings.quick else ours.bar_against(peer, contest.peers[0])}
            row |= {"work": asdict(ours.work) if ours.work else None}
            record["rows"].append(row)
    return record


def measure_estimate(case, settings):
    """Estimate and run in turns, and return a record of the best of each."""
    run = case.load()
    estimates, times = [], []
    for _ in range(settings.repeat or 3):
        estimates.append(case.estimate())
        times.append(timed(run))
    estimate, real = median(estimates), min(times)
    bar = None if settings.quick else case.bar
    return {"area": case.area, "name": case.name, "estimate_s": estimate, "real_s": real, "off": max(estimate / real, real / estimate), "bar": bar}


def measure_study(study, settings):
    """Run one study and return its record."""
    record = {"area": study.area, "name": study.name, "tolerance": study.tolerance}
    if study.slow and not (settings.slow or settings.quick):
        return record | {"skipped": "takes minutes: needs --slow"}
    try:
        contest = study.load()
    except Unavailable as reason:
        return record | {"skipped": str(reason)}
    everyone = contest.peers + contest.ours
    best = {contestant.label: float("inf") for contestant in everyone}
    quality = {}
    for number in range(1 if study.slow else (settings.repeat or 3)):
        for contestant in everyone:
            if contestant.once and number > 0:
                continue
            gc.collect()
            time.sleep(REST)
            began = time.perf_counter()
            try:
                result = contestant.run()
                best[contestant.label] = min(best[contestant.label], time.perf_counter() - began)
                quality[contestant.label] = {name: float(v) for name, v in contestant.answer(result).items()}
            except Disagreement as reason:
                return record | {"disagreement": f"{contestant.label}: {reason}"}
    record["quality"] = quality
    record["rows"] = []
    first = contest.peers[0]
    deciding = contest.allowed or dict.fromkeys(list(quality[first.label])[:1], lambda value: value * (1 + study.tolerance))
    for ours in contest.ours:
        for peer in contest.peers:
            row = {"peer": peer.label, "ours": ours.label}
            row |= {"peer_s": best[peer.label], "ours_s": best[ours.label]}
            row |= {"ratio": best[peer.label] / best[ours.label], "work": None}
            row |= {"bar": None if settings.quick else ours.bar_against(peer, first)}
            record["rows"].append(row)
        for measure, most in deciding.items():
            found, expected = quality[ours.label][measure], quality[first.label][measure]
            if ours.judged and not settings.quick and not found <= most(expected):
                record["disagreement"] = f"{ours.label}: {measure} {found:.8g}, but {first.label} has {expected:.8g}"
    return record


def add_floors(records, rates):
    """Add to every row with known work its floor on a machine with these `rates`, and its time as a multiple of the floor."""
    for row in (row for record in records for row in record.get("rows", ())):
        floor = Work(**row["work"]).seconds(rates) if row["work"] else None
        row |= {"floor_s": floor, "floors": row["ours_s"] / floor if floor else None}


def _agree(contest, tolerance):
    """Return the error of every contestant against the first peer; these runs also warm up every contestant."""
    reference, errors = None, {}
    for contestant in contest.peers + contest.ours:
        answer = contestant.answer(contestant.run())
        if reference is None:
            reference = answer
            continue
        error = relative_error(answer, reference)
        errors[contestant.label] = error
        if not error <= tolerance:
            raise Disagreement(f"{contestant.label}: error {error:.1e}, allowed {tolerance:.0e}")
    return errors


def _interleave(contestants, least, most, budget):
    """Return the seconds of each contestant by round; every other round runs in reverse order, so that nobody is always second."""
    samples = {contestant.label: [] for contestant in contestants}
    began = time.perf_counter()
    for number in range(most):
        if number >= least and time.perf_counter() - began > budget:
            break
        for contestant in contestants if number % 2 == 0 else contestants[::-1]:
            samples[contestant.label].append(timed(contestant.run))
    return samples


def timed(run):
    """Return the seconds of one call, excluding the release of its result, the garbage collector, and threads of the previous call.

    Calls are repeated until they fill a sample, and the mean is returned.
    """
    gc.collect()
    time.sleep(REST)
    gc.disable()
    calls = seconds = 0
    try:
        while seconds < SAMPLE:
            began = time.perf_counter()
            answer = run()
            seconds += time.perf_counter() - began
            calls += 1
            del answer
    finally:
        gc.enable()
    return seconds / calls


def measure_peak(peak, settings):
    """Return the record of a peak, measured in a fresh process that runs ``bench/run.py``."""
    bar = None if settings.quick else peak.bar
    record = {"area": peak.area, "name": peak.name, "unit": peak.unit, "unit_name": peak.unit_name, "bar": bar}
    arguments = ["--threads", str(settings.threads), *(["--quick"] if settings.quick else [])]
    run = Path(__file__).with_name("run.py")
    child = subprocess.run(
        [sys.executable, run, *arguments, "--peak-of", peak.name], capture_output=True, text=True, check=False
    )
    if child.returncode != 0:
        return record | {"disagreement": f"the process failed: {child.stderr.strip()[-500:]}"}
    before, after = json.loads(child.stdout.splitlines()[-1])
    return record | {"before": before, "peak": after, "multiple": (after - before) / peak.unit}


def peak_of_this_process(peak):
    """Print the resident bytes before the call, and their maximum up to its end."""
    run = peak.load()
    gc.collect()
    before = _status("VmRSS")
    answer = run()
    after = _status("VmHWM")
    del answer
    print(json.dumps([before, after]))


def _status(entry):
    """Return bytes from /proc/self/status; without /proc from `getrusage`, which may count the parent as of the fork."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        scale = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * scale
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(entry + ":"))
