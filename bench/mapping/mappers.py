# SPDX-License-Identifier: BSD-3-Clause
"""The mappers that are compared, each as map(instance, seed) -> (k, seconds, CPU seconds): process i gets rank k[i]."""
import json
import os
import resource
import subprocess
import sys
import time

import numpy

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "python"))

from lucid import mapping_library  # noqa: E402
from lucid.errors import LucidError  # noqa: E402

PLACES, PARTS = 16, 2                # cores of a NUMA part, parts of a node
DISTANCE = (1, 10, 100)              # within a part, within a node, between nodes


def machine(size):
    """The machine for `size` processes, as lucid_topology_read() wants it."""
    return "node:%d numa:%d core:%d" % (size // (PLACES * PARTS), PARTS, PLACES)


def cost(instance, k):
    """J by its definition, with numpy: every direction counted, as the matrix has it."""
    place = numpy.empty(instance.size, dtype=numpy.int64)
    place[numpy.asarray(k)] = numpy.arange(instance.size)
    row = numpy.repeat(place, numpy.diff(instance.start).astype(numpy.int64))
    column = place[instance.column]
    far = numpy.where(row // (PLACES * PARTS) != column // (PLACES * PARTS), DISTANCE[2],
                      numpy.where(row // PLACES != column // PLACES, DISTANCE[1], DISTANCE[0]))
    return float((instance.value.astype(numpy.float64) * far).sum())


class Unavailable(Exception):
    """A mapper that cannot run here, and why."""


class Lucid:
    """One of Lucid's own algorithms, in this process."""

    largest = 1 << 24

    def __init__(self, algorithm, threads):
        self.name, self.threads = algorithm, threads

    def map(self, instance, seed):
        matrix = mapping_library.Matrix(instance.size, instance.start, instance.column, instance.value)
        tree = mapping_library.Tree.read(machine(instance.size))
        before, begin = resource.getrusage(resource.RUSAGE_SELF), time.monotonic()
        try:
            found = mapping_library.find(matrix, tree, self.name, threads=self.threads, seed=seed)
        except LucidError as error:
            raise Unavailable(str(error)) from None
        seconds, after = time.monotonic() - begin, resource.getrusage(resource.RUSAGE_SELF)
        return found.k, seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


class SharedMap:
    """SharedMap (Decomposition.process_map of PyPI's chszlablib) in an interpreter of its own, without imbalance."""

    def __init__(self, mode, threads, results, largest=1 << 24):
        self.largest = largest  # its slower modes take minutes beyond
        self.name, self.mode, self.threads, self.results = "sharedmap-" + mode, mode, threads, results
        self.python = os.path.join(results, "peers", "bin", "python")

    def map(self, instance, seed):
        if not os.path.exists(self.python):
            raise Unavailable("chszlablib is not there (bench/mapping/run gets it from PyPI, but for --quick)")
        given, taken = (os.path.join(self.results, name) for name in ("instance.npz", "places.npy"))
        numpy.savez(given, start=instance.start, column=instance.column, value=instance.value, distance=DISTANCE,
                    hierarchy=(PLACES, PARTS, instance.size // (PLACES * PARTS)))
        done = subprocess.run([self.python, os.path.join(HERE, "sharedmap_worker.py"), given, self.mode, str(self.threads), str(seed),
                               taken], stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
        if done.returncode != 0:
            raise Unavailable("it ended with %d: %s" % (done.returncode, (done.stderr.strip().splitlines() or [""])[-1]))
        said = json.loads(done.stdout)
        places = numpy.load(taken)
        if sorted(places) != list(range(instance.size)):
            raise Unavailable("its answer is not a permutation")
        k = numpy.empty(instance.size, dtype=numpy.int64)
        k[places] = numpy.arange(instance.size)
        return k.tolist(), said["seconds"], said["cpu"]


def all_of(threads, results):
    """Everything that is compared, in the order of the tables."""
    ours = [Lucid(name, threads) for name in ("auto", "multilevel", "treematch", "scotch")]
    return ours + [SharedMap("fast", threads, results), SharedMap("eco", threads, results, largest=8192)]
