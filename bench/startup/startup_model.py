# SPDX-License-Identifier: BSD-3-Clause
"""Messages and bytes of communicators on any number of ranks, by formulas; prints a table (for docs/results/startup.md).

    startup_model.py            64 to 65,536 ranks, 16 per node
    startup_model.py check      the small cases that have been counted, against the formulas; exit code 1 where they differ

Formulas, p ranks on n nodes, L = ceil(log2 p):
  a dup, Open MPI alone           three nonblocking allreduces up and down a tree: 6 (p - 1)
  a dup, coll/lazy                three times up and down a tree of radix 4: 6 (p - 1); on one node three disseminations: 3 p L
  coll/han's set-up               an allreduce and five allgathers by doubling, p L each, and four communicators: 6 p L + 24 (p - 1)
  a small allreduce, tree         2 (p - 1): coll/han's and coll/hier's, the first one of coll/hier with its agreement included
  layouts of coll/hier            12 p + 4 (n + 1) bytes, once per node; the job's map 4 p, once per node
coll/tuned takes other algorithms than doubling on many ranks: from 256 on coll/han's set-up has fewer messages than this
(docs/results/scale.md: 28 to 31 % on 1,024 and 4,096).
"""
import sys

PER_NODE = 16
# (ranks, what): messages as counted by coll/lazy's books and by PML counters on Open MPI 4.1.4 and 5.0.7 in the lab
COUNTED = {(4, "dup alone"): 18, (16, "dup alone"): 90, (4, "han set-up"): 126 - 6, (16, "han set-up"): 774 - 30,
           (4, "tree"): 6, (16, "tree"): 30, (32, "tree"): 62, (3, "dup lazy, one node"): 18}


def turns(p, radix=2):
    found = 0
    while radix ** found < p:
        found += 1
    return found


FORMULAS = {"dup alone": lambda p: 6 * (p - 1), "dup lazy": lambda p: 6 * (p - 1), "dup lazy, one node": lambda p: 3 * p * turns(p),
            "han set-up": lambda p: 6 * p * turns(p) + 24 * (p - 1), "tree": lambda p: 2 * (p - 1)}


def tables(p):
    return 12 * p + 4 * (p // PER_NODE + 1), 4 * p


def check():
    wrong = [(p, what, FORMULAS[what](p), counted) for (p, what), counted in COUNTED.items() if FORMULAS[what](p) != counted]
    for p, what, said, counted in wrong:
        print(f"{what}, {p} ranks: the formula says {said}, counted were {counted}")
    print(f"{len(COUNTED) - len(wrong)} of {len(COUNTED)} counted cases are as the formulas say")
    return bool(wrong)


def main():
    if sys.argv[1:] == ["check"]:
        sys.exit(check())
    print("| ranks | a dup, alone: messages (turns) | a dup, coll/lazy | first allreduce, han | first allreduce, coll/hier "
          "| layout and map per node, B | the same in every process, B per node |")
    print("|" + "--:|" * 7)
    for p in (64, 256, 1024, 4096, 16384, 65536):
        layout, job = tables(p)
        print(f"| {p:,} | {FORMULAS['dup alone'](p):,} ({6 * turns(p)}) | {FORMULAS['dup lazy'](p):,} ({6 * turns(p, 4)}) "
              f"| {FORMULAS['han set-up'](p) + FORMULAS['tree'](p):,} | {FORMULAS['tree'](p):,} | {layout + job:,} "
              f"| {PER_NODE * (layout + job):,} |")


if __name__ == "__main__":
    main()
