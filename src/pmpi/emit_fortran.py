# SPDX-License-Identifier: BSD-3-Clause
"""The Fortran wrappers: every argument is a pointer and goes on unchanged, to the next definition of the same name.

Names, as gfortran and its kin make them and as the MPI libraries export them:
  mpi_x_ mpi_x__ MPI_X      mpif.h and the module mpi. Not the bare mpi_x: a C function of that name may be anybody's.
  mpi_x_f08_                module mpi_f08
  mpi_x_f08ts_              the same where a buffer comes as a descriptor, whose first word is the address
  mpi_x_c_f08_, _c_f08ts_   large counts in Open MPI; mpi_x_f08_large_, mpi_x_f08ts_large_ in MPICH
"""
import emit_body
import functions
import mpi_header

PROLOGUE = mpi_header.INCLUDES + """
#include "../place/place_arrange.h"
#include "../reduce/reduce.h"
#include "fortran.h"
#include "wrappers.h"

#define IN_PLACE(buffer) lucid_fortran_in_place(f_##buffer, descriptors)
"""

BUFFERS = {"buf", "buffer", "sendbuf", "recvbuf", "origin_addr", "base"}
WITHOUT_RC = {"label", "arrange", "window", "icomm", "request_free", "op_free", "finalize", "time", "wait", "wait_one", "test"}
WEIGHTS = {"weights", "sourceweights", "destweights"}
HANDLES = {"MPI_Comm": "Comm", "MPI_Datatype": "Type", "MPI_Win": "Win", "MPI_Op": "Op", "MPI_Request": "Request"}


class Fortran(emit_body.Dialect):
    counts = {"int": "counts_f", "MPI_Count": "counts_c"}
    types = "types_f"

    def __init__(self, function, name, parameters):
        super().__init__(function, name, parameters)
        self.arguments = [a for a in function.arguments if not (function.action == "init" and a.startswith("arg"))]
        self.ierror = function.name not in functions.FORTRAN_WITHOUT_IERROR
        self.lengths = [f"length{i}" for i in range(functions.FORTRAN_LENGTHS.get(function.name, 0))]

    def declared(self):
        return ([f"void *f_{a}" for a in self.arguments] + ["MPI_Fint *ierror"] * self.ierror +
                [f"uintptr_t {name}" for name in self.lengths])

    def passed(self):
        return [f"f_{a}" for a in self.arguments] + ["ierror"] * self.ierror + self.lengths

    def arranged_call(self, adjacent):
        before = ["MPI_Fint f_arranged = PMPI_Comm_c2f(arranged), f_no = 0;"]
        other = {"comm": "&f_arranged", "reorder": "arranged == comm ? f_reorder : &f_no"}
        if adjacent:
            before.append("MPI_Fint f_in = lists.indegree, f_out = lists.outdegree;")
            other.update(indegree="&f_in", outdegree="&f_out")
            for name in ("sources", "destinations"):
                other[name] = f"(void *)lists.{name}"
            for name in ("sourceweights", "destweights"): # Fortran's own MPI_UNWEIGHTED is not C's
                field = "lists." + emit_body.LISTS[name]
                own = f"lists.storage == NULL || {field} == MPI_UNWEIGHTED"
                other[name] = f"{own} ? f_{name} : (void *)(intptr_t){field}"
        types = ["void *" for _ in self.arguments] + ["MPI_Fint *"] * self.ierror
        passed = [other.get(a, "f_" + a) for a in self.arguments] + ["ierror"] * self.ierror
        return [*before, f"((void (*)({', '.join(types)}))next)({', '.join(passed)});"]

    def call(self):
        types = ["void *" for _ in self.arguments] + ["MPI_Fint *"] * self.ierror + ["uintptr_t" for _ in self.lengths]
        call = f"((void (*)({', '.join(types)}))next)({', '.join(self.passed())});"
        if not self.ierror or self.function.action in WITHOUT_RC:
            return [call]
        return ["MPI_Fint unwanted = MPI_SUCCESS;",
                "if (ierror == NULL) ierror = &unwanted; /* it is optional in mpi_f08 */",
                call, "const int rc = (int)*ierror;"]

    def reduction_call(self, own):
        # a buffer that comes as a descriptor may be an array section, which MPICH makes a datatype of before it calls MPI_X in C: that is
        # where such calls are taken
        *optional, call, rc = self.call()
        here = [*self.values(own), *(f"void *const {name} = f_{name};" for name in ("sendbuf", "recvbuf")), "int own = MPI_SUCCESS;"]
        # MPICH's own entry points call MPI_X in C, whose wrapper is to leave alone what has been dealt with here
        inside = ["if (LUCID_UNLIKELY(wanted)) lucid_reduce_nest(true);", call, "if (LUCID_UNLIKELY(wanted)) lucid_reduce_nest(false);"]
        begin = [*optional, "const bool wanted = !descriptors && lucid_reduce_wanted();"]
        if self.function.action == "coll_init":
            here += ["MPI_Request made = PMPI_Request_f2c(*(const MPI_Fint *)f_request);",
                     f"if (lucid_reduce_persist({own}, &made, &own)) {{", "    *ierror = own;",
                     "    *(MPI_Fint *)f_request = PMPI_Request_c2f(made);", "}"]
            ours = "if (LUCID_UNLIKELY(wanted) && *ierror == MPI_SUCCESS) {"
            return [*begin, *inside, ours, *("    " + line for line in here), "}", rc]
        left = []
        if self.function.action == "icoll":
            here += ["MPI_Request made = MPI_REQUEST_NULL;", f"taken = lucid_reduce_begin({own}, &made, &own);",
                     "if (taken) {", "    *ierror = own;", "    *(MPI_Fint *)f_request = PMPI_Request_c2f(made);", "}"]
        else:
            again = emit_body.again(self)
            here += [*([f"looked_at = !{again};"] if again else []), f"taken = looked_at && lucid_reduce_run({own}, &own);", "if (taken) *ierror = own;"]
            begin += ["bool looked_at = wanted;"]
            left = ["if (LUCID_UNLIKELY(looked_at)) lucid_reduce_left();"]
        return [*begin, "bool taken = false;", "if (LUCID_UNLIKELY(wanted)) {", *("    " + line for line in here), "}",
                "if (!taken) {", *("    " + line for line in inside), "}", *left, rc]

    def values(self, text):
        return [self.value(name) for name in emit_body.used(text, self.arguments) if name not in BUFFERS]

    def value(self, name):
        if name in WEIGHTS:
            return f"const int *const {name} = lucid_fortran_weights(f_{name});"
        c_type = self.parameters[name].type.replace("const", "").replace("*", "").strip()
        if self.parameters[name].suffix: # an array: handles and default integers as Fortran has them
            element = "MPI_Count" if c_type == "MPI_Count" else "MPI_Fint"
            return f"const {element} *const {name} = f_{name};"
        if c_type in HANDLES:
            return f"const {c_type} {name} = PMPI_{HANDLES[c_type]}_f2c(*(const MPI_Fint *)f_{name});"
        element = "MPI_Count" if c_type == "MPI_Count" else "MPI_Fint"
        return f"const MPI_Count {name} = *(const {element} *)f_{name};"

    def expression(self, text):
        return text

    def waits(self):
        requests = emit_body.used("request requests", self.parameters)[0]
        number = emit_body.used("count incount", self.parameters)
        return f"(int)*(const MPI_Fint *)f_{number[0]}" if number else "1", f"fortran = f_{requests}"

    def starts(self):
        number = "(int)*(const MPI_Fint *)f_count" if "count" in self.parameters else "1"
        return "lucid_fortran_starts", number, "f_" + self.arguments[-1]

    def names(self):
        """[(name, whether buffers come as descriptors)], and the further names of the first."""
        forms = [False, True] if BUFFERS & set(self.arguments) else [False]
        lower = self.name.lower()
        if self.name.endswith("_c"):
            base = lower[:-2]
            return [(name, ts) for ts in forms
                    for name in (f"{lower}_f08{'ts' * ts}_", f"{base}_f08{'ts' * ts}_large_")], []
        f08 = [(f"{lower}_f08{'ts' * ts}_", ts) for ts in forms]
        return [(lower + "_", False), *f08], [lower + "__", self.name.upper()]


def wrapper(function, name, parameters):
    dialect = Fortran(function, name, parameters)
    names, more = dialect.names()
    declared = ", ".join(dialect.declared())
    shared = "body_" + name.lower()
    text = [f"""
static inline __attribute__((always_inline)) void {shared}({', '.join(['void *next', 'bool descriptors', *dialect.declared()])})
{{
{emit_body.indent(emit_body.body(dialect))}
}}
"""]
    for entry, descriptors in names:
        first = ", ".join([f'LUCID_FORTRAN_NEXT("{entry}")', str(descriptors).lower(), *dialect.passed()])
        text.append(f"LUCID_WRAPPER void {entry}({declared})\n{{\n    {shared}({first});\n}}\n")
    text.extend(f'LUCID_WRAPPER void {alias}({declared}) __attribute__((alias("{names[0][0]}")));\n' for alias in more)
    return "".join(text)


def twins(rows):
    """rows, with the functions that have a second name in Fortran under that as well."""
    for function, name, parameters in rows:
        yield function, name, parameters
        if function.name in functions.FORTRAN_SECOND_NAMES and not name.endswith("_c"):
            yield function, "MPI_" + functions.FORTRAN_SECOND_NAMES[function.name], parameters


def file(rows):
    """The text of a C file with the Fortran entry points. rows: (function, name, parameters)."""
    return emit_body.HEAD + PROLOGUE + "".join(wrapper(*row) for row in twins(rows))
