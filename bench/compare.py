"""Compares two results.json: `python bench/compare.py BEFORE AFTER`. Exits with 1 if mercer became slower.

The comparison uses the ratio to the peer, which ran on the same machine in the same minute; it may fall to 0.95 of its old value.
"""

import json
import sys
from pathlib import Path

ALLOWED = 0.95


def ratios(path):
    """Return the ratio of every comparison in a file."""
    cases = json.loads(Path(path).read_text())["cases"]
    return {
        (f"{case['area']}/{case['name']}", row["peer"], row["ours"]): row["ratio"]
        for case in cases
        for row in case.get("rows", ())
    }


def main(before, after):
    before, after = ratios(before), ratios(after)
    slower = False
    for key in (key for key in before if key in after):
        change = after[key] / before[key]
        slower |= change < ALLOWED
        word = "  SLOWER" if change < ALLOWED else ""
        print(f"{change:6.2f}  {before[key]:7.2f} → {after[key]:7.2f}  {', '.join(key)}{word}")
    for key in sorted(before.keys() ^ after.keys()):
        print(f"     –  only {'before' if key in before else 'after'}: {', '.join(key)}")
    return int(slower)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
