"""What the tests share."""

import numpy as np
import pytest


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture(autouse=True)
def numpy_seed():
    """Makes what ``random_state=None`` draws the same in every run of a test."""
    np.random.seed(0)
