# SPDX-License-Identifier: BSD-3-Clause
"""What the pages of records have in common: the processor, and the note of what a reader must know of a record."""
import os


def processor():
    with open("/proc/cpuinfo", encoding="utf-8") as stream:
        return next((line.partition(":")[2].strip() for line in stream if line.startswith("model name")), "unknown processor")


def note(file):
    """Its text without the licence, which the page has; None: there is none."""
    if not os.path.exists(file):
        return None
    with open(file, encoding="utf-8") as stream:
        return "".join(line for line in stream if not line.startswith("<!-- SPDX")).strip()
