"""Fixtures of the tests."""

import numpy as np
import pytest


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture(autouse=True)
def numpy_seed():
    """Makes the seeds drawn for ``random_state=None`` the same in every run of a test."""
    np.random.seed(0)
