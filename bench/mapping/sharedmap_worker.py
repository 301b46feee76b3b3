# SPDX-License-Identifier: BSD-3-Clause
"""One run of SharedMap, in the interpreter that has it: sharedmap_worker.py INSTANCE.npz MODE THREADS SEED PLACES.npy

Prints seconds and CPU seconds of the mapping alone as JSON, and writes the place of every vertex.
"""
import json
import os
import resource
import sys
import time

import numpy
from chszlablib import Decomposition, Graph


def main():
    path, mode, threads, seed, out = sys.argv[1:]
    saved = numpy.load(path)
    graph = Graph.from_csr(saved["start"].astype(numpy.int64), saved["column"].astype(numpy.int32),
                           edge_weights=saved["value"].astype(numpy.int64))
    said = os.dup(1)
    os.dup2(2, 1)  # what the library prints is not the answer
    before, begin = resource.getrusage(resource.RUSAGE_SELF), time.monotonic()
    result = Decomposition.process_map(graph, hierarchy=saved["hierarchy"].tolist(), distance=saved["distance"].tolist(), mode=mode,
                                       imbalance=0.0, threads=int(threads), seed=int(seed))
    seconds, after = time.monotonic() - begin, resource.getrusage(resource.RUSAGE_SELF)
    numpy.save(out, numpy.asarray(result.assignment))
    os.write(said, json.dumps({"seconds": seconds, "cpu": after.ru_utime + after.ru_stime - before.ru_utime -
                               before.ru_stime}).encode())


if __name__ == "__main__":
    main()
