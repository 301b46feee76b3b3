# SPDX-License-Identifier: BSD-3-Clause
"""What the pages of records have in common: the processor, and the note of what a reader must know of a record."""
import os


def processor():
    """Its name, and, where that names many, its family and model."""
    found = {}
    with open("/proc/cpuinfo", encoding="utf-8") as stream:
        for line in stream:
            key, _, value = line.partition(":")
            found.setdefault(key.strip(), value.strip())
    numbers = [f"{word} {found[key]}" for word, key in (("family", "cpu family"), ("model", "model")) if key in found]
    return ", ".join([found.get("model name", "unknown processor"), *numbers])


def note(file):
    """Its text without the licence, which the page has; None: there is none."""
    if not os.path.exists(file):
        return None
    with open(file, encoding="utf-8") as stream:
        return "".join(line for line in stream if not line.startswith("<!-- SPDX")).strip()
