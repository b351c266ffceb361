"""Writes data/rings.csv: points of an inner disc and of a ring around it, which no straight line separates."""

import math
import random
from pathlib import Path

random.seed(1)
rows = []
for index in range(200):
    inner = index % 2 == 0
    radius = random.uniform(0.0, 1.0) if inner else random.uniform(1.0, 2.0)
    radius += random.gauss(0.0, 0.12)
    angle = random.uniform(0.0, 2 * math.pi)
    rows.append((radius * math.cos(angle), radius * math.sin(angle), "inner" if inner else "outer"))

path = Path(__file__).parent / "data" / "rings.csv"
path.write_text("x1,x2,ring\n" + "".join(f"{x:.3f},{y:.3f},{name}\n" for x, y, name in rows))
