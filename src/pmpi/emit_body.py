# SPDX-License-Identifier: BSD-3-Clause
"""What a wrapper does, said once for C and Fortran. A dialect says how a call is made and how an argument is read."""
import re

import functions

HEAD = """/* SPDX-License-Identifier: BSD-3-Clause
 * Made by generate.py from functions.py and the installed mpi.h. */
"""


class Dialect:
    """One function's way to speak: the base of emit_c.C and emit_fortran.Fortran."""

    counts = {"int": "counts", "MPI_Count": "counts_c"} # field of struct lucid_coll_call by element type
    types = "types"

    def __init__(self, function, name, parameters):
        self.function, self.name = function, name
        self.parameters = dict(zip(function.arguments, parameters))

    def call(self):
        """Statements that make the call and leave its return code in `rc`."""
        raise NotImplementedError

    def arranged_call(self, adjacent):
        """The same on the communicator `arranged`, which has the order already; adjacent: with `lists`."""
        raise NotImplementedError

    def reduction_call(self, own):
        """The same, unless lucid_reduce_run() or _begin() takes the call, which is `own`."""
        raise NotImplementedError

    def values(self, text):
        """Declarations that make the arguments named in `text` usable in C."""
        raise NotImplementedError

    def expression(self, text):
        """`text` with the arguments written as this dialect reads them."""
        raise NotImplementedError

    def waits(self):
        """The number of the requests that are waited for, and the field of struct lucid_reduce_wait with the array."""
        raise NotImplementedError

    def starts(self):
        """Prefix of the functions that bracket MPI_Start and MPI_Startall, the number and the array of requests."""
        raise NotImplementedError


def reduction(dialect):
    """The call in the terms of reduce.h, or None where the sparse core has nothing to do with it."""
    kind = functions.REDUCTIONS.get(dialect.function.name)
    if kind is None:
        return None
    fields = [f".kind = SPARSE_{kind}", ".input = sendbuf", ".output = recvbuf", ".in_place = IN_PLACE(sendbuf)",
              ".output_in_place = IN_PLACE(recvbuf)"]
    for name in ("count", "recvcount"):
        if name in dialect.parameters:
            fields.append(f".count = {name}")
    if "recvcounts" in dialect.parameters:
        large = "MPI_Count" in dialect.parameters["recvcounts"].type
        fields.append(f".counts{'_c' if large else ''} = recvcounts")
    if "root" in dialect.parameters:
        fields.append(".root = root")
    fields += [".type = datatype", ".op = op", ".comm = comm", f'.name = "{dialect.name}"', ".site = __builtin_return_address(0)"]
    return "&(const struct lucid_reduction){" + ", ".join(fields) + "}"


def again(dialect):
    """Whether a blocking reduction is as the one before it, and the library's, in the terms of reduce_again.h; None where it has several counts."""
    count = [name for name in ("count", "recvcount") if name in dialect.parameters]
    if not count or dialect.function.action != "coll":
        return None
    return f"lucid_reduce_again(SPARSE_{functions.REDUCTIONS[dialect.function.name]}, {count[0]}, datatype, op, comm)"


def used(text, names):
    """The `names` that occur in `text`, in the order of `names`."""
    words = set(re.findall(r"\w+", text))
    return [name for name in names if name in words]


def collective(dialect):
    """The report of a collective call."""
    fields = [".kind = LUCID_KIND_" + dialect.function.kind, ".comm = comm"]
    for field in dialect.function.report.split():
        key, _, value = field.partition("=")
        if key == "shape":
            value = "LUCID_COLL_" + value
        elif key == "counts":
            array = used(value, dialect.parameters)[-1]
            key = dialect.counts["MPI_Count" if "MPI_Count" in dialect.parameters[array].type else "int"]
        elif key == "types":
            key = dialect.types
        fields.append(f".{key} = {value}".replace("?", " ? ").replace(":", " : "))
    call = "&(const struct lucid_coll_call){" + ", ".join(fields) + "}"
    if dialect.function.action == "coll_init":
        return f"lucid_call_coll_init(request, {call});"
    return f"lucid_call_collective({call});"


def around(dialect):
    """Statements right before and right after the call, and the text whose arguments they need."""
    action, kind = dialect.function.action, "LUCID_KIND_" + dialect.function.kind
    if action == "window":
        return ["lucid_call_window_begin();"], ["lucid_call_window_end();"], ""
    if action in ("icoll", "coll_init", "icomm"):
        persistent = "true" if action == "coll_init" else "false"
        return (["int64_t token = 0;", f"lucid_call_nbc_begin(comm, {kind}, {persistent}, &token);"],
                [f"lucid_call_nbc_end(comm, {kind}, {persistent}, token);"], "comm")
    return [], [], ""


def report(dialect, done):
    """What is told once the call has succeeded. `done`: arguments that are converted already."""
    action = dialect.function.action
    if action in ("label", "icomm", "window"):
        return []
    text = collective(dialect) if "coll" in action else dialect.function.report + ";"
    always = action in ("request", "coll_init")
    condition = "rc == MPI_SUCCESS" if always else "LUCID_UNLIKELY(entered) && rc == MPI_SUCCESS"
    values = dialect.values(" ".join(word for word in re.findall(r"\w+", text) if word not in done))
    return [f"if ({condition}) {{", *["    " + line for line in values], "    " + dialect.expression(text), "}"]


def bracketed(dialect):
    """The usual wrapper: enter, call, report, leave."""
    before, after, needs = around(dialect)
    own = reduction(dialect)
    call = dialect.call() if own is None else dialect.reduction_call(own)
    return [*dialect.values(needs), f"const bool entered = lucid_call_enter(LUCID_KIND_{dialect.function.kind});",
            *before, *call, *after, *report(dialect, used(needs, dialect.parameters)),
            "lucid_call_leave(entered);"]


def start(dialect):
    prefix, number, requests = dialect.starts()
    return ["struct lucid_starts starts;", f"{prefix}_begin(&starts, {number}, {requests});",
            "const bool entered = lucid_call_enter(lucid_starts_kind(&starts));", *dialect.call(),
            f"{prefix}_end(&starts, entered, rc, {requests});", "lucid_call_leave(entered);"]


def request_free(dialect):
    # the table lets go first: once it is freed, the handle may be another thread's new request
    return [*dialect.values("request"), dialect.expression("lucid_call_request_free(request);"),
            dialect.expression("lucid_reduce_request_freed(request);"), *dialect.call()]


def time(dialect, *first):
    return ["const bool watched = lucid_call_watch();", *first, *dialect.call(), "lucid_call_unwatch(watched);"]


def wait(dialect):
    number, requests = dialect.waits()
    every = str(dialect.function.action == "wait").lower()
    fields = f".number = {number}, .{requests}, .all = {every}"
    return time(dialect, f"if (LUCID_UNLIKELY(lucid_reduce_wanted())) lucid_reduce_help(&(const struct lucid_reduce_wait){{{fields}}});")


def test(dialect):
    return time(dialect, "if (LUCID_UNLIKELY(lucid_reduce_wanted())) lucid_reduce_help_once();")


def op_free(dialect):
    return [*dialect.values("op"), dialect.expression("lucid_op_forget(op);"), *dialect.call()]


def init(dialect):
    return [*dialect.call(), "if (rc == MPI_SUCCESS) lucid_call_init();", "if (rc == MPI_SUCCESS) lucid_reduce_open(lucid_coll_shown);"]


def finalize(dialect):
    return ["lucid_call_finalize();", "lucid_reduce_close();", *dialect.call()]


def pcontrol(dialect):
    return [*dialect.call(), *dialect.values("level"), "lucid_call_pcontrol(level);"]


# what of the adjacency lists goes where in struct lucid_adjacent
LISTS = {"indegree": "indegree", "sources": "sources", "sourceweights": "source_weights", "outdegree": "outdegree",
         "destinations": "destinations", "destweights": "destination_weights"}


def arrange(dialect):
    """The communicator is put in order first, where the program allows it and it has been asked for."""
    function = dialect.function
    adjacent = "lists" in function.report
    needs = [*used(function.report, dialect.parameters), *(a for a in function.arguments if adjacent and a in LISTS)]
    fields = ", ".join(f".{field} = {name}" for name, field in LISTS.items())
    return [*dialect.values(" ".join([*needs, "comm", "reorder"])),
            f"const bool entered = lucid_call_enter(LUCID_KIND_{function.kind});",
            *([f"struct lucid_adjacent lists = {{{fields}}};"] if adjacent else []),
            f"const MPI_Comm arranged = reorder && lucid_arrange_wanted() ? {function.report} : comm;",
            *dialect.arranged_call(adjacent),
            f"lucid_arrange_done(arranged, comm, {'&lists' if adjacent else 'NULL'});",
            "lucid_call_leave(entered);"]


SPECIAL = {"arrange": arrange, "start": start, "startall": start, "request_free": request_free, "op_free": op_free, "time": time,
           "wait": wait, "wait_one": wait, "test": test, "init": init, "finalize": finalize, "pcontrol": pcontrol}


# arguments that are communicators to be made
MADE = {"newcomm", "newintercomm", "newintracomm", "intercomm"}


def makes_communicators(function):
    """Whether a call makes communicators, for the program or, as windows and files do, for itself."""
    if function.kind == "COMM":
        return function.action in ("label", "icomm", "arrange") and bool(MADE & set(function.arguments))
    return function.action == "window" and function.name != "Win_free" or function.name == "File_open"


def body(dialect):
    """The lines of the wrapper."""
    lines = SPECIAL.get(dialect.function.action, bracketed)(dialect)
    if makes_communicators(dialect.function):
        return [f'lucid_startup_begin("MPI_{dialect.function.name}");', *lines, "lucid_startup_end();"]
    return lines


def indent(lines):
    return "\n".join("    " + line for line in lines)
