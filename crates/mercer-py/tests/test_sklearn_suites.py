"""scikit-learn's own tests, run with mercer's classes instead of its own."""

import subprocess
import sys
from pathlib import Path

import pytest
import sklearn_swap


@pytest.mark.parametrize("suite", sklearn_swap.SUITES)
def test_peer_suite_passes_with_our_class(suite):
    command = [sys.executable, "-m", "pytest", "-p", "sklearn_swap", "-p", "no:cacheprovider", "-q", "-rA"]
    done = subprocess.run(
        [*command, "--pyargs", suite],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "PASSED" in done.stdout


def test_the_swap_reaches_the_suite():
    program = (
        "import sklearn_swap, mercer; sklearn_swap.pytest_configure(None)\n"
        "import sklearn.tests.test_kernel_ridge as suite\n"
        "assert suite.KernelRidge is mercer.KernelRidge\n"
        "import sklearn.tests.test_kernel_approximation as suite\n"
        "assert suite.RBFSampler is mercer.RBFSampler and suite.Nystroem is mercer.Nystroem"
    )
    subprocess.run([sys.executable, "-c", program], cwd=Path(__file__).parent, check=True)
