"""Measures mercer against its peers and writes RESULTS.md and results.json; see README.md."""

import argparse
import json
import re
import shlex
import sys
import time
from pathlib import Path

import harness
import machine
import report
from cases import all_cases
from threadpoolctl import threadpool_limits

BENCH = Path(__file__).resolve().parent


def main():
    arguments = parse()
    settings = harness.Settings(arguments.threads, arguments.quick, arguments.data, arguments.repeat, arguments.slow)
    cases = all_cases(settings)
    with threadpool_limits(settings.threads):
        if arguments.peak_of is not None:
            harness.peak_of_this_process(next(case for case in cases if case.name == arguments.peak_of))
            return 0
        chosen = [case for case in cases if re.search(arguments.only, f"{case.area}/{case.name}")]
        if not chosen:
            sys.exit(f"no case matches {arguments.only!r}; --list names them")
        if arguments.list:
            print("\n".join(f"{case.area}/{case.name}" for case in chosen))
            return 0
        return run(arguments, settings, chosen)


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", metavar="PATTERN", help="cases whose area/name matches this regular expression")
    parser.add_argument("--repeat", type=positive, metavar="N", help="rounds of every case (default: by its duration, 3 to 20)")
    parser.add_argument("--data", type=folder, metavar="DIR", help="folder of NAME.npz files, for the cases on real data")
    parser.add_argument("--quick", action="store_true", help="small sizes, as a smoke test")
    parser.add_argument("--slow", action="store_true", help="also run the cases that take minutes each")
    parser.add_argument("--threads", type=positive, default=2, metavar="N", help="number of threads of every contestant (default 2)")
    parser.add_argument(
        "--out", type=Path, metavar="DIR", help="folder of the results (default: bench, or target/bench for part of a full run)"
    )
    parser.add_argument(
        "--update", action="store_true", help="with --only: replace these cases in the recorded results in bench"
    )
    parser.add_argument("--list", action="store_true", help="name the cases and stop")
    parser.add_argument("--peak-of", help=argparse.SUPPRESS)
    return parser.parse_args()


def positive(text):
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"at least 1, got {text}")
    return number


def folder(text):
    if not Path(text).is_dir():
        raise argparse.ArgumentTypeError(f"no folder {text}")
    return Path(text)


def run(arguments, settings, chosen):
    began, bystanders = time.perf_counter(), machine.Bystanders()
    facts = machine.facts(settings.threads)
    rates = machine.calibrate(settings.threads, settings.quick)
    for warning in report.warnings(facts, None, settings.quick):
        print(f"warning: {warning}", file=sys.stderr)
    records = []
    for case in chosen:
        if isinstance(case, harness.Peak):
            records.append(harness.measure_peak(case, settings))
        elif isinstance(case, harness.Estimate):
            records.append(harness.measure_estimate(case, settings))
        elif isinstance(case, harness.Study):
            records.append(harness.measure_study(case, settings))
        else:
            records.append(harness.measure(case, settings))
        print(report.line(records[-1]), flush=True)
    # Noise only slows the machine down: the better rate of before and after is closer to its capability.
    again = machine.calibrate(settings.threads, settings.quick)
    rates = {name: max(rate, again[name]) for name, rate in rates.items()}
    harness.add_floors(records, rates)
    # A partial run must not overwrite a complete one.
    partial = settings.quick or arguments.only
    out = arguments.out or (BENCH.parent / "target/bench" if partial and not arguments.update else BENCH)
    # The data folder is specific to this machine.
    command = shlex.join(["python", "bench/run.py", *("DIR" if a == str(arguments.data) else a for a in sys.argv[1:])])
    share = bystanders.share()
    if arguments.update:
        # The heading stays that of the complete run; later measurements carry their own date.
        whole = json.loads((BENCH / "results.json").read_text())
        kept = updated(whole["cases"], records, f"{facts['date']}, built from `{facts['built_from'][:10]}`")
        report.write(out, whole["machine"], whole["rates"], kept, whole["command"], whole["bystanders"], False)
    else:
        report.write(out, facts, rates, records, command, share, settings.quick)
    print(f"{out / 'RESULTS.md'}: {time.perf_counter() - began:.0f} s")
    if share is not None and share > 0.05:
        print(f"warning: other processes took {share:.0%} of the processors", file=sys.stderr)
    return int(not all(report.met(record) for record in records))


def updated(recorded, records, when):
    """Return the recorded cases with these replacing cases of the same name, or appended, each with its time of measurement."""
    later = {(r["area"], r["name"]): r | {"later": when} for r in records}
    kept = [later.pop((r["area"], r["name"]), r) for r in recorded]
    return kept + list(later.values())


if __name__ == "__main__":
    sys.exit(main())
