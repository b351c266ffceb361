"""Output of the results: RESULTS.md for readers, results.json for programs."""

import json

HEAD = """# Results

{command}, on {date}, commit `{commit}`. This command wrote this file and `results.json`, which has every
sample and all details of the run; see `bench/README.md`.

- Machine: {cpu}, {cores} cores ({flags}), {memory:.0f} GiB, {system}. Every library uses {threads} threads.
- Versions: mercer {mercer} (built from `{built_from}`), {versions}, Python {python}, {blas}.
- Processor time taken by other processes during the run: {bystanders}.
{warnings}
All libraries get the same arrays in the same process. Results are compared first: *error* is max|a − b|/max|b| against the
first peer, and a case whose error is above its tolerance is not timed. Then the libraries run in turns, and the times are the
best of all rounds. *ratio* is the peer's time divided by mercer's, *bar* the required minimum. *noise* is the median
divided by the best time, for peer and mercer; values much above 1.1 mean that the machine was not quiet.

*floor* is the time of the unavoidable work at the rates that NumPy reached in the same run:

{rates}

that is, flops at the rate of a large matrix product, exponentials at the rate of `numpy.exp` in cache, and first touches of
the memory of the result; *× floor* is mercer's time divided by the floor.
"""

COLUMNS = ("case", "peer", "peer's time", "mercer", "ratio", "bar", "", "floor", "× floor", "error / tolerance", "noise")

STUDY_COLUMNS = ("case", "peer", "peer's time", "mercer", "ratio", "bar", "", "quality")


def write(folder, facts, rates, records, command, bystanders, quick):
    """Write both files into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    everything = {"command": command, "quick": quick, "machine": facts, "bystanders": bystanders}
    everything |= {"rates": rates, "cases": records}
    (folder / "results.json").write_text(json.dumps(everything, indent=1, ensure_ascii=False) + "\n")
    (folder / "RESULTS.md").write_text(text(facts, rates, records, command, bystanders, quick))


def text(facts, rates, records, command, bystanders, quick):
    """Return the text of RESULTS.md."""
    versions = [f"{name} {number}" for name, number in facts["versions"].items() if number and name != "mercer"]
    parts = [
        HEAD.format(
            command=f"`{command}`",
            memory=facts["memory_bytes"] / 2**30,
            mercer=facts["versions"]["mercer"],
            bystanders="unknown" if bystanders is None else f"{bystanders:.1%}",
            warnings="".join(f"- **{warning}**\n" for warning in warnings(facts, bystanders, quick)),
            rates=_table(("work", "rate"), [(name.rpartition(" ")[0], _rate(name, value)) for name, value in rates.items()]),
            **{key: facts[key] for key in ("date", "commit", "cpu", "cores", "system", "threads", "built_from", "python")},
            flags=", ".join(facts["flags"]),
            versions=", ".join(versions),
            blas=", ".join(facts["blas"]),
        )
    ]
    for area in dict.fromkeys(record["area"] for record in records):
        mine = [record for record in records if record["area"] == area]
        parts.append(f"\n## {area}\n")
        rows = [row for record in mine if "errors" in record for row in _rows(record)]
        if rows:
            parts.append(_table(COLUMNS, rows))
        studies = [row for record in mine if "quality" in record for row in _study(record)]
        if studies:
            parts.append("\nErrors on held-out rows: peer / mercer, less is better.\n")
            parts.append(_table(STUDY_COLUMNS, studies))
        peaks = [_peak(record) for record in mine if "multiple" in record]
        if peaks:
            parts.append("\nPeak memory of one call in a fresh process, less the memory held before the call.\n")
            parts.append(_table(("memory", "unit", "of the call", "bar", "", "of the process"), peaks))
        estimates = [_estimate(record) for record in mine if "off" in record]
        if estimates:
            parts.append(_table(("case", "estimated", "took", "off by a factor of", "bar", ""), estimates))
        for when in dict.fromkeys(record["later"] for record in mine if "later" in record):
            names = [record["name"] for record in mine if record.get("later") == when]
            everything = len(names) == len(mine)
            parts.append(f"\nMeasured on {when}{'' if everything else ': ' + '; '.join(names)}.")
        for record in mine:
            for word in ("skipped", "disagreement"):
                if word in record:
                    parts.append(f"\n**{record['name']}**: {word}: {record[word]}\n")
    return "\n".join(parts)


def warnings(facts, bystanders, quick):
    """Yield the reasons to distrust the figures."""
    if quick:
        yield "A quick run on small sizes: it shows that everything works, and checks no bar."
    if facts["stale"]:
        yield "mercer was not built from the code of this tree: run bench/setup."
    if bystanders is not None and bystanders > 0.05:
        yield "The machine was busy with other work: the times mean little, the ratios are rough."


def met(record):
    """Return whether a record agrees with the peers and meets its bars."""
    if "disagreement" in record:
        return False
    if "multiple" in record:
        return record["bar"] is None or record["multiple"] < record["bar"]
    if "off" in record:
        return record["bar"] is None or record["off"] <= record["bar"]
    return all(row["bar"] is None or row["ratio"] >= row["bar"] for row in record.get("rows", ()))


def line(record):
    """Return one line per comparison, for the terminal."""
    name = f"{record['area']}/{record['name']}"
    for word in ("skipped", "disagreement"):
        if word in record:
            return f"{name}: {word.upper()}: {record[word]}"
    if "off" in record:
        times = f"estimated {_time(record['estimate_s'])}, took {_time(record['real_s'])}"
        return f"{name}: {times}: off by {record['off']:.2f}×{_bar(record['bar'], '≤')}"
    if "multiple" in record:
        return f"{name}: {record['multiple']:.2f} × {record['unit_name']}{_bar(record['bar'], '<')}"
    return "\n".join(
        f"{name}: {row['peer']} {_time(row['peer_s'])}, {row['ours']} {_time(row['ours_s'])}: {row['ratio']:.2f}×"
        + _bar(row["bar"], "≥")
        for row in record["rows"]
    )


def _bar(bar, sign):
    return "" if bar is None else f" (bar {sign} {bar:g})"


def _rows(record):
    for row in record.get("rows", ()):
        label = row["ours"].removeprefix("mercer").strip()
        error = record["errors"][row["ours"]]
        noise = record["noise"]
        yield (
            f"{record['name']}, {label}" if label else record["name"],
            row["peer"],
            _time(row["peer_s"]),
            _time(row["ours_s"]),
            f"{row['ratio']:.2f}",
            "" if row["bar"] is None else f"{row['bar']:g}",
            "" if row["bar"] is None else ("met" if row["ratio"] >= row["bar"] else "**missed**"),
            "" if row["floor_s"] is None else _time(row["floor_s"]),
            "" if row["floors"] is None else f"{row['floors']:.2f}",
            f"{error:.0e} / {record['tolerance']:.0e}",
            f"{noise[row['peer']]:.2f}, {noise[row['ours']]:.2f}",
        )


def _study(record):
    for row in record["rows"]:
        label = row["ours"].removeprefix("mercer").strip()
        peer, ours = record["quality"][row["peer"]], record["quality"][row["ours"]]
        yield (
            f"{record['name']}, {label}" if label else record["name"],
            row["peer"],
            _time(row["peer_s"]),
            _time(row["ours_s"]),
            f"{row['ratio']:.2f}",
            "" if row["bar"] is None else f"{row['bar']:g}",
            "" if row["bar"] is None else ("met" if row["ratio"] >= row["bar"] else "**missed**"),
            "; ".join(f"{name} {f'{peer[name]:.4g}' if name in peer else '–'} / {value:.4g}" for name, value in ours.items()),
        )


def _estimate(record):
    bar = record["bar"]
    return (
        record["name"],
        _time(record["estimate_s"]),
        _time(record["real_s"]),
        f"{record['off']:.2f}",
        "" if bar is None else f"≤ {bar:g}",
        "" if bar is None else ("met" if record["off"] <= bar else "**missed**"),
    )


def _peak(record):
    bar = record["bar"]
    return (
        record["name"],
        f"{record['unit_name']}, {record['unit'] / 1e6:.0f} MB",
        f"{record['multiple']:.2f}",
        "" if bar is None else f"< {bar:g}",
        "" if bar is None else ("met" if record["multiple"] < bar else "**missed**"),
        f"{record['peak'] / record['unit']:.2f}",
    )


def _table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in cells) + " |" for cells in lines)


def _time(seconds):
    if seconds >= 1:
        return f"{seconds:.2f} s"
    return f"{seconds * 1e3:.3g} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.3g} µs"


def _rate(name, value):
    unit = name.split()[-1]
    return f"{value / 1e9:.1f}·10⁹/s" if unit == "/s" else f"{value / 1e9:.1f} G{unit}"
