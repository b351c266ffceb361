"""scikit-learn's own tests, run with mercer's classes instead of its own."""

import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from xml.etree import ElementTree

import pytest
import sklearn
import sklearn_swap


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """One run of all suites: its output, and for each module what each of its tests reported (nothing where it passed)."""
    report = tmp_path_factory.mktemp("suites") / "report.xml"
    command = [sys.executable, "-m", "pytest", "-p", "sklearn_swap", "-p", "no:cacheprovider", "-q", f"--junitxml={report}"]
    # Modules are named from the root.
    command.append(f"--rootdir={Path(sklearn.__file__).parents[1]}")
    done = subprocess.run(
        [*command, "--pyargs", *sklearn_swap.SUITES],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr
    found = defaultdict(list)
    for case in ElementTree.parse(report).iter("testcase"):
        found[case.get("classname")].append({part.tag for part in case})
    return done.stdout, found


@pytest.mark.parametrize("suite", sklearn_swap.SUITES)
def test_peer_suite_passes_with_our_class(suite, results):
    output, found = results
    assert set(found) == set(sklearn_swap.SUITES), output
    assert not any({"failure", "error"} & reported for reported in found[suite]), output
    assert set() in found[suite], output


def test_the_swap_reaches_the_suite():
    program = (
        "import sklearn_swap, mercer; sklearn_swap.pytest_configure(None)\n"
        "import sklearn.tests.test_kernel_ridge as suite\n"
        "assert suite.KernelRidge is mercer.KernelRidge\n"
        "import sklearn.tests.test_kernel_approximation as suite\n"
        "assert suite.RBFSampler is mercer.RBFSampler and suite.Nystroem is mercer.Nystroem"
    )
    subprocess.run([sys.executable, "-c", program], cwd=Path(__file__).parent, check=True)
