# SPDX-License-Identifier: BSD-3-Clause
"""A short soak: random programs compute the same with everything on, and leave no more behind. The long one is tools/soak."""
import pytest

import soak


@pytest.mark.parametrize("name", soak.VARIANTS)
def test_random_programs(tmp_path, name):
    soak.once(name, 1, 40, tmp_path, 100)
