# SPDX-License-Identifier: BSD-3-Clause
"""python3 -m lucid"""

import sys

from .cli import main

sys.exit(main())
