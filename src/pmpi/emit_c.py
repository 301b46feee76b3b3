# SPDX-License-Identifier: BSD-3-Clause
"""The C wrappers: MPI_X calls PMPI_X. Argument names are the table's, types are mpi.h's."""
import re

import emit_body
import mpi_header

PROLOGUE = mpi_header.INCLUDES + """
#include "../place/place_arrange.h"
#include "../reduce/reduce.h"
#include "wrappers.h"

#define IN_PLACE(buffer) ((buffer) == MPI_IN_PLACE)
"""


class C(emit_body.Dialect):
    def call(self):
        return [f"const int rc = P{self.name}({', '.join(self.function.arguments)});"]

    def reduction_call(self, own):
        call = f"P{self.name}({', '.join(self.function.arguments)});"
        if self.function.action == "coll_init":
            return [f"int rc = {call}",
                    f"if (LUCID_UNLIKELY(lucid_reduce_wanted()) && rc == MPI_SUCCESS) (void)lucid_reduce_persist({own}, request, &rc);"]
        if self.function.action == "icoll":
            return ["int rc = MPI_SUCCESS;",
                    f"if (LUCID_LIKELY(!lucid_reduce_wanted()) || !lucid_reduce_begin({own}, request, &rc))", f"    rc = {call}"]
        again = emit_body.again(self)
        looked_at = f"lucid_reduce_wanted() && !{again}" if again else "lucid_reduce_wanted()"
        return ["int rc = MPI_SUCCESS;", f"const bool looked_at = {looked_at};",
                f"if (LUCID_LIKELY(!looked_at) || !lucid_reduce_run({own}, &rc))", f"    rc = {call}",
                "if (LUCID_UNLIKELY(looked_at)) lucid_reduce_left();"]

    def arranged_call(self, adjacent):
        other = {"comm": "arranged", "reorder": "arranged == comm ? reorder : 0"}
        if adjacent:
            other.update({name: "lists." + field for name, field in emit_body.LISTS.items()})
        return [f"const int rc = P{self.name}({', '.join(other.get(a, a) for a in self.function.arguments)});"]

    def values(self, text):
        return []

    def expression(self, text):
        for name in ("request", "op"):
            if name in self.parameters and self.parameters[name].type.endswith("*"):
                return re.sub(rf"\b{name}\b", "*" + name, text)
        return text

    def waits(self):
        requests = emit_body.used("request requests", self.parameters)[0]
        return (emit_body.used("count incount", self.parameters) or ["1"])[0], f"requests = {requests}"

    def starts(self):
        return "lucid_starts", "count" if "count" in self.parameters else "1", self.function.arguments[-1]

    def parameter_list(self, declared):
        named = [f"{p.type} {name}{p.suffix}".replace("* ", "*") for name, p in self.parameters.items()]
        return ", ".join([*named, *["..." for p in declared if p.type == "..."]]) or "void"


def wrapper(function, name, parameters):
    dialect = C(function, name, parameters)
    return f"""
LUCID_WRAPPER int {name}({dialect.parameter_list(parameters)})
{{
{emit_body.indent(emit_body.body(dialect))}
    return rc;
}}
"""


def file(rows):
    """The text of a C file. rows: (function, name, parameters)."""
    return emit_body.HEAD + PROLOGUE + "".join(wrapper(*row) for row in rows)
