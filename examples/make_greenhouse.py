"""Writes greenhouse.csv and greenhouse-new.csv beside this file. Uses the standard library alone."""

import math
import pathlib
import random


def growth(temperature, humidity, light, co2, rng):
    """Growth in millimetres a day: a warm optimum, saturation in light, and a dry-air penalty."""
    warmth = math.exp(-(((temperature - 23.0) / 6.0) ** 2))
    photosynthesis = light / (light + 180.0) * co2 / (co2 + 350.0)
    dryness = 0.8 / (1.0 + math.exp((humidity - 45.0) / 6.0))
    return 12.0 * warmth * photosynthesis - dryness + rng.gauss(0.0, 0.15)


def write(path, rows, rng):
    with open(path, "w") as file:
        file.write("temperature,humidity,light,co2,growth\n")
        for _ in range(rows):
            t = rng.uniform(10.0, 35.0)
            h = rng.uniform(25.0, 90.0)
            light = rng.uniform(20.0, 800.0)
            co2 = rng.uniform(350.0, 1200.0)
            g = growth(t, h, light, co2, rng)
            file.write(f"{t:.1f},{h:.0f},{light:.0f},{co2:.0f},{g:.2f}\n")


if __name__ == "__main__":
    rng = random.Random(4)
    folder = pathlib.Path(__file__).parent / "data"
    write(folder / "greenhouse.csv", 600, rng)
    write(folder / "greenhouse-new.csv", 100, rng)
