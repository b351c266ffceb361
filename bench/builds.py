"""Compares two builds of the command line: `python bench/builds.py OLD NEW --data DIR [--rounds 5] [--simd avx2] [-o FILE]`.

Both binaries run the same commands in turns on the same files, every other round in reverse order. The comparison uses the processor
time, user and system, of the whole command, best of all rounds: it varies less than wall time on a busy machine. Exits with 1
if NEW takes more than OLD / 0.97.
"""

import argparse
import os
import platform
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

#: The speed that a new build must keep, as a fraction of the old one's.
ALLOWED = 0.97

#: Data set, divisor of the features, C and gamma.
MACHINES = (("a9a", 1, 1, 1 / 32), ("cod_rna", 1, 32, 0.5), ("letter", 15, 16, 4), ("usps", 1, 10, 0.02))


def made(rows, columns, seed=0):
    """Return samples with a smooth target."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rows, columns))
    return X, np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.standard_normal(rows)


def real(folder, name, divisor):
    """Return the training rows of a data set."""
    with np.load(folder / f"{name}.npz") as file:
        X, y = (file["X_train"], file["y_train"]) if "X_train" in file else (file["X"], file["y"])
    return X.astype(np.float64) / divisor, y


def commands(folder, work):
    """Return the cases: a name and the arguments of a command, which may write to `out`."""
    for rows in (2_000, 6_000):
        X, y = made(rows, 20)
        np.savez(work / f"made{rows}.npz", X=X, y=y)
    X, y = made(60_000, 20)
    np.savez(work / "made60000.npz", X=X, y=y)
    np.save(work / "new.npy", made(20_000, 20, 1)[0])
    kernel = ["--kernel", "rbf(sigma=4)"]
    fit = ["--target", "y", "--holdout", "0", "-o", "out"]
    yield "gram, 6,000 × 20", ["gram", "made6000.npz", "--target", "y", *kernel, "-o", "out.npy"]
    yield "ridge, 6,000 rows", ["fit", "ridge", "made6000.npz", *kernel, "--lambda", "0.1", *fit]
    yield "ridge by cg, 6,000 rows", ["fit", "ridge", "made6000.npz", *kernel, "--lambda", "0.1", "--solver", "cg", *fit]
    yield "tune ridge, 2,000 rows", ["tune", "ridge", "made2000.npz", "--target", "y", "--kernel", "rbf(sigma=?)", "-o", "out"]
    yield "fourier:1024, 60,000 rows", ["fit", "ridge", "made60000.npz", *kernel, "--lambda", "0.1", "--approx", "fourier:1024", *fit]
    yield "nystrom:512, 60,000 rows", ["fit", "ridge", "made60000.npz", *kernel, "--lambda", "0.1", "--approx", "nystrom:512", *fit]
    for name, divisor, c, gamma in MACHINES:
        if folder is None or not (folder / f"{name}.npz").exists():
            print(f"skipped: {name}", file=sys.stderr)
            continue
        X, y = real(folder, name, divisor)
        np.savez(work / f"{name}.npz", X=X, y=y)
        settings = ["--kernel", f"rbf(gamma={gamma})", "--C", str(c), "--scale", "none"]
        yield f"svc, {name}", ["fit", "svc", f"{name}.npz", *settings, *fit]
    yield "predict, 20,000 rows from 6,000", ["predict", "model", "new.npy", "-o", "out.csv"]


def seconds(binary, arguments, work, simd):
    """Return the processor time of a command."""
    environment = {**os.environ, **({"MERCER_SIMD": simd} if simd else {})}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run = subprocess.run([binary, *arguments], cwd=work, env=environment, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if run.returncode:
        sys.exit(f"{' '.join(arguments)}: {run.stderr}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def compare(builds, folder, rounds, simd):
    """Return the best times of every case for both builds."""
    with tempfile.TemporaryDirectory() as work:
        work = Path(work)
        cases = list(commands(folder, work))
        train = ["fit", "ridge", "made6000.npz", "--kernel", "rbf(sigma=4)", "--target", "y", "--holdout", "0"]
        seconds(builds[0], [*train, "-o", "model"], work, None)
        best = {name: [float("inf")] * 2 for name, _ in cases}
        for turn in range(rounds):
            for name, arguments in cases:
                for which in (0, 1) if turn % 2 == 0 else (1, 0):
                    time = seconds(builds[which], arguments, work, simd)
                    best[name][which] = min(best[name][which], time)
            print(f"round {turn + 1} of {rounds}", file=sys.stderr)
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--data", type=Path, help="folder with a9a.npz, cod_rna.npz, letter.npz and usps.npz")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--simd", choices=("avx512", "avx2", "neon", "portable"), help="instruction set of both builds")
    parser.add_argument("-o", "--output", type=Path, help="Markdown file to append the table to")
    arguments = parser.parse_args()
    builds = [arguments.old.resolve(), arguments.new.resolve()]
    best = compare(builds, arguments.data and arguments.data.resolve(), arguments.rounds, arguments.simd)
    lines = [f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores, best of {arguments.rounds} rounds", ""]
    lines += ["| case | old, s | new, s | old / new |", "| --- | ---: | ---: | ---: |"]
    for name, (old, new) in best.items():
        lines.append(f"| {name} | {old:.3f} | {new:.3f} | {old / new:.2f} |")
    text = "\n".join(lines) + "\n"
    print(text)
    if arguments.output:
        with arguments.output.open("a") as file:
            file.write(text)
    return int(any(old / new < ALLOWED for old, new in best.values()))


if __name__ == "__main__":
    sys.exit(main())
