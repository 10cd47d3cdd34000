import pytest

from driftmdp import kernels


def test_unknown_kernels_are_attribute_errors():
    with pytest.raises(AttributeError, match="nothing"):
        _ = kernels.nothing
