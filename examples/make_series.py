"""Writes co2.csv and airline.csv beside this file: made-up monthly series. Uses the standard library alone."""

import math
import pathlib
import random


def co2(rng):
    """Parts per million of carbon dioxide by month: an accelerating rise, a yearly cycle and slow wobbles."""
    wobble = 0.0
    for month in range(12 * 40):
        years = month / 12.0
        wobble = 0.97 * wobble + rng.gauss(0.0, 0.08)
        rise = 316.0 + 0.75 * years + 0.013 * years**2
        cycle = (2.6 + 0.012 * years) * math.sin(2 * math.pi * years) - 0.8 * math.sin(4 * math.pi * years)
        yield 1959.0 + years, rise + cycle + wobble + rng.gauss(0.0, 0.2)


def airline(rng):
    """Passengers by month: a cycle whose swing grows with the level."""
    for month in range(12 * 12):
        years = month / 12.0
        level = 110.0 + 22.0 * years + 0.9 * years**2
        season = 1.0 + 0.16 * math.sin(2 * math.pi * (years - 0.3)) + 0.06 * math.sin(4 * math.pi * years)
        yield 1949.0 + years, level * season + rng.gauss(0.0, 4.0)


def write(path, header, rows, digits):
    with open(path, "w") as file:
        file.write(header + "\n")
        for year, value in rows:
            file.write(f"{year:.4f},{value:.{digits}f}\n")


if __name__ == "__main__":
    rng = random.Random(7)
    folder = pathlib.Path(__file__).parent / "data"
    write(folder / "co2.csv", "year,ppm", co2(rng), 2)
    write(folder / "airline.csv", "year,passengers", airline(rng), 1)
