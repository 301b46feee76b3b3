#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes the table of collective slots, and one trampoline for each, from the installed ompi/mca/coll/coll.h.

usage: generate_slots.py COLL_H OUTPUT_DIRECTORY

lazy_slots.h        LAZY_SLOTS(X): X(name, class, scope) for every slot of a communicator's table
lazy_trampolines.c  lazy_<name>() for every slot of a collective operation

class   BLOCKING, NONBLOCKING (persistent ones included), AGREEMENT (ULFM), LOCAL (reduce_local)
scope   ALWAYS: every communicator must have it; INTRA: every intracommunicator; OPTIONAL
"""
import os
import re
import sys

HEAD = "/* SPDX-License-Identifier: BSD-3-Clause\n * Made by generate_slots.py from the installed coll.h. */\n"
TYPE = re.compile(r"typedef\s+int\s*\(\*\s*(mca_coll_base_module_\w+_fn_t)\s*\)\s*\((.*?)\)\s*;", re.DOTALL)
TABLE = re.compile(r"struct mca_coll_base_comm_coll_t \{(.*?)\n\};", re.DOTALL)
SLOT = re.compile(r"(mca_coll_base_module_\w+_fn_t)\s+coll_(\w+)\s*;")
NOT_COLLECTIVE = {"revoke_local"}


def read(path):
    """{slot: (arguments, ...)} in the order of the table; an argument is its C text."""
    with open(path, encoding="utf-8") as stream:
        text = re.sub(r"/\*.*?\*/", "", stream.read(), flags=re.DOTALL)
    types = {name: tuple(argument.strip() for argument in re.sub(r"\s+", " ", arguments).split(","))
             for name, arguments in TYPE.findall(text)}
    found = TABLE.search(text)
    slots = SLOT.findall(found.group(1)) if found else []
    if len(slots) < 60:
        sys.exit(f"{path}: {len(slots)} collective slots were found, more than 60 are expected: this is not a coll.h that is known")
    unknown = [name for kind, name in slots if kind not in types]
    if unknown:
        sys.exit(f"{path}: no prototype was found for {', '.join(unknown)}")
    return {name: types[kind] for kind, name in slots if name not in NOT_COLLECTIVE}


def class_of(name, names):
    if name == "reduce_local":
        return "LOCAL"
    if name in ("agree", "iagree"):
        return "AGREEMENT"
    if name.endswith("_init") or (name.startswith("i") and name[1:] in names):
        return "NONBLOCKING"
    return "BLOCKING"


def scope_of(name):
    if "neighbor" in name or "agree" in name:
        return "OPTIONAL"
    return "INTRA" if re.fullmatch(r"i?(ex)?scan(_init)?", name) else "ALWAYS"


def argument_name(argument):
    return re.search(r"(\w+)\s*(?:\[\])?$", argument).group(1)


def trampoline(name, arguments):
    names = [argument_name(argument) for argument in arguments]
    if names[-1] != "module" or "comm" not in names:
        sys.exit(f"coll_{name}: a communicator and, last, a module are expected, not ({', '.join(arguments)})")
    passed = ", ".join([*names[:-1], f"comm->c_coll->coll_{name}_module"])
    return (f"int lazy_{name}({', '.join(arguments)})\n{{\n    struct lazy_use use;\n"
            f"    int rc = lucid_lazy_ready(comm, LAZY_{name}, &use);\n    if (rc != OMPI_SUCCESS) return rc;\n"
            f"    if (comm->c_coll->coll_{name} == NULL || comm->c_coll->coll_{name} == lazy_{name})\n"
            f"        return OMPI_ERR_NOT_SUPPORTED;\n"
            f"    rc = comm->c_coll->coll_{name}({passed});\n"
            "    lucid_lazy_used(comm, &use);\n    return rc;\n}\n")


def main():
    header, output = sys.argv[1:]
    slots = read(header)
    rows = [f"    X({name}, {class_of(name, slots)}, {scope_of(name)})" for name in slots]
    prototypes = [f"int lazy_{name}({', '.join(slots[name])});" for name in slots if name != "reduce_local"]
    with open(os.path.join(output, "lazy_slots.h"), "w", encoding="utf-8") as stream:
        stream.write(HEAD + "#define LAZY_SLOTS(X) \\\n" + " \\\n".join(rows) + "\n\n" + "\n".join(prototypes) + "\n")
    with open(os.path.join(output, "lazy_trampolines.c"), "w", encoding="utf-8") as stream:
        stream.write(HEAD + '#include "lazy.h"\n\n')
        stream.write("\n".join(trampoline(name, arguments) for name, arguments in slots.items() if name != "reduce_local"))


if __name__ == "__main__":
    main()
