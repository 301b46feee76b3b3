#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What the core writes is read by readers that know nothing of it: Python's json, and the rules of the text formats.

usage: formats_test.py PROGRAM     (formats_sample)
"""
import json
import re
import subprocess
import sys
import unittest

PROGRAM = sys.argv.pop() if len(sys.argv) > 1 else ""
SIZE = 9
MOST = 2 ** 64 - 1


def output(*arguments):
    return subprocess.run([PROGRAM, *arguments], check=True, stdout=subprocess.PIPE).stdout


def expected(seed):
    """{(row, column): (messages, bytes)}, by formats_sample.c's rule."""
    entries = {(r, c): (c + 1, (c + 1) * (r * 1000 + c)) for r in range(SIZE) for c in range(SIZE) if (r * c + seed) % 3 == 0}
    if entries:
        last = max(entries)
        entries[last] = (entries[last][0], MOST)
    return entries


def read_mtx(text):
    """A reader of Matrix Market's coordinate format: header, comments, sizes, 1-based entries."""
    lines = text.splitlines()
    banner = lines[0].split()
    assert banner[0] == "%%MatrixMarket", lines[0]
    assert [word.lower() for word in banner[1:]] == ["matrix", "coordinate", "integer", "general"], lines[0]
    body = [line for line in lines[1:] if line.strip() and not line.startswith("%")]
    rows, columns, count = map(int, body[0].split())
    entries = {}
    for line in body[1:]:
        row, column, value = map(int, line.split())
        assert 1 <= row <= rows and 1 <= column <= columns and (row - 1, column - 1) not in entries, line
        entries[row - 1, column - 1] = value
    assert len(entries) == count
    return rows, columns, entries


class Formats(unittest.TestCase):
    def test_json(self):
        raw = output("json")
        data = json.loads(raw.decode("utf-8"))  # strict: UTF-8 that is not whole would raise
        bytes_ = ["a%sb" % (chr(b) if b < 0x80 else "\ufffd") for b in range(1, 256)]
        self.assertEqual(data["bytes"], bytes_)
        self.assertEqual(data["text"], "tab\there \"quoted\" back\\slash \u00e9 \u20ac \U0001f600")
        self.assertEqual(data["broken"], "\ufffd\ufffd(\ufffd\ufffd\ufffd)\ufffd\ufffd\ufffd\ufffd")
        self.assertEqual(data["key \"with\" \\ \n and \u00e9"], "odd")
        self.assertIsNone(data["null"])
        self.assertEqual((data["most"], data["none"], data["seconds"], data["true"]), (MOST, None, 12.25, True))
        self.assertEqual(data["rows"], [[i, i * i, MOST - i] for i in range(3)] + [[]])
        depth, inner = 1, data["deeper"]
        while inner:
            inner = inner[0] if isinstance(inner, list) else inner["deeper"]
            depth += 1
        self.assertEqual(depth, 14)
        self.assertEqual(data["empty"], {})
        for line in raw.decode("utf-8").splitlines():  # a row is a line, for line tools
            if re.match(r"\s*\[\d", line):
                self.assertRegex(line, r"^  \[\d+(, \d+)*\],?$")

    def test_mtx(self):
        for seed in range(3):
            rows, columns, entries = read_mtx(output("mtx", str(seed)).decode("ascii"))
            self.assertEqual((rows, columns), (SIZE, SIZE))
            self.assertEqual(entries, {at: value[1] for at, value in expected(seed).items()})

    def test_prof(self):
        line_of = re.compile(r"^E\t(\d+)\t(\d+)\t(\d+) bytes\t(\d+) msgs sent$")
        for seed in range(3):
            found = {}
            for line in output("prof", str(seed)).decode("ascii").splitlines():
                source, destination, size, messages = map(int, line_of.match(line).groups())
                found[source, destination] = (messages, size)
            self.assertEqual(found, expected(seed))

    def test_dense(self):
        for seed in range(3):
            for which, name in enumerate(("counts", "bytes")):
                rows = [list(map(int, line.split(" "))) for line in output(name, str(seed)).decode("ascii").splitlines()]
                wanted = expected(seed)
                self.assertEqual(rows, [[wanted.get((r, c), (0, 0))[which] for c in range(SIZE)] for r in range(SIZE)])


if __name__ == "__main__":
    unittest.main()
