"""The tutorial: every program of it runs, and so do the assertions it makes."""

import runpy
from pathlib import Path

import pytest

PROGRAMS = sorted((Path(__file__).parents[3] / "docs" / "tutorial").glob("*.py"))


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_program(program):
    runpy.run_path(str(program), run_name="__main__")


def test_readme_lists_every_program():
    readme = (PROGRAMS[0].parent / "README.md").read_text()
    assert [p.name for p in PROGRAMS if p.name not in readme] == [] and len(PROGRAMS) >= 5
