# SPDX-License-Identifier: BSD-3-Clause
"""The MPI functions that send, or that cause traffic: one table, as data. generate.py makes the wrappers from it.

A row is (name without "MPI_", arguments in the standard's order, kind, action, report). The C types come from the
installed mpi.h; a function that it does not declare gets no wrapper. A large-count twin (name + "_c") needs no row.

kind    LUCID_KIND_ of the call, without the prefix; it names the messages that the call makes.
action  what the wrapper does around PMPI_<name>; see ACTIONS.
report  C expression over the argument names, evaluated after the call has succeeded. IN_PLACE(buffer) tells
        MPI_IN_PLACE, OWN(array) is the element of the calling process, both in C and in Fortran.
"""
from collections import namedtuple

Function = namedtuple("Function", "name arguments kind action report")

ACTIONS = {
    "label": "nothing but naming the messages made meanwhile",
    "count": "report, if this is the outermost call and somebody listens",
    "request": "report always: the table of persistent requests must know every one",
    "coll": "report a collective call, like count",
    "icoll": "the same, nonblocking",
    "coll_init": "the same, persistent: remembered now, counted when started",
    "icomm": "nonblocking creation of a communicator",
    "arrange": "creation of a topology: report is the communicator with its ranks in order (place_arrange.h)",
    "time": "nothing but measuring the time it takes",
    "wait": "the same, and steps nonblocking reductions until what it waits for is complete: MPI_Wait, MPI_Waitall",
    "wait_one": "the same until one of its requests is complete",
    "test": "the same, one step",
    "window": "making or freeing of a window",
    "start": "MPI_Start",
    "startall": "MPI_Startall",
    "request_free": "MPI_Request_free",
    "op_free": "MPI_Op_free",
    "init": "MPI_Init, MPI_Init_thread",
    "finalize": "MPI_Finalize",
    "pcontrol": "MPI_Pcontrol",
}


def rows(kind, action, lines):
    """One Function per line of `name: arguments` or `name: arguments => report`; an indented line goes on."""
    for line in lines.strip().replace("\n ", " ").splitlines():
        head, _, report = line.partition("=>")
        name, _, arguments = head.partition(":")
        yield Function(name.strip(), tuple(arguments.split()), kind, action, report.strip())


SEND = "lucid_call_send(count, datatype, dest, comm)"
SENDRECV = "lucid_call_send(sendcount, sendtype, dest, comm)"
SEND_INIT = "lucid_call_send_init(request, count, datatype, dest, comm)"


def point_to_point():
    for mode in ("", "B", "S", "R"):
        send = (mode + "send").capitalize()
        arguments = tuple("buf count datatype dest tag comm".split())
        yield Function(send, arguments, "P2P", "count", SEND)
        yield Function("I" + send.lower(), arguments + ("request",), "P2P", "count", SEND)
        yield Function(send + "_init", arguments + ("request",), "P2P", "request", SEND_INIT)
    both = "sendbuf sendcount sendtype dest sendtag recvbuf recvcount recvtype source recvtag comm "
    replace = "buf count datatype dest sendtag source recvtag comm "
    yield Function("Sendrecv", tuple((both + "status").split()), "P2P", "count", SENDRECV)
    yield Function("Isendrecv", tuple((both + "request").split()), "P2P", "count", SENDRECV)
    yield Function("Sendrecv_replace", tuple((replace + "status").split()), "P2P", "count", SEND)
    yield Function("Isendrecv_replace", tuple((replace + "request").split()), "P2P", "count", SEND)
    yield from rows("P2P", "request", """
Psend_init: buf partitions count datatype dest tag comm info request
    => lucid_call_psend_init(request, count, datatype, dest, comm)
""")
    yield from rows("P2P", "count", """
Pready: partition request                          => lucid_call_pready(1, request)
Pready_range: partition_low partition_high request => lucid_call_pready(partition_high - partition_low + 1, request)
Pready_list: length partitions request             => lucid_call_pready(length, request)
""")
    yield from rows("P2P", "time", """
Recv: buf count datatype source tag comm status
Mrecv: buf count datatype message status
Probe: source tag comm status
Iprobe: source tag comm flag status
Mprobe: source tag comm message status
Improbe: source tag comm flag message status
""")
    yield from rows("P2P", "wait", """
Wait: request status
Waitall: count requests statuses
""")
    yield from rows("P2P", "wait_one", """
Waitany: count requests index status
Waitsome: incount requests outcount indices statuses
""")
    yield from rows("P2P", "test", """
Test: request flag status
Testall: count requests flag statuses
Testany: count requests index flag status
Testsome: incount requests outcount indices statuses
""")
    yield Function("Start", ("request",), "P2P", "start", "")
    yield Function("Startall", ("count", "requests"), "P2P", "startall", "")
    yield Function("Request_free", ("request",), "P2P", "request_free", "")
    yield Function("Op_free", ("op",), "P2P", "op_free", "")


# Collectives that the sparse core may run in the library's stead (src/reduce), by the core's name for them.
BLOCKING_REDUCTIONS = {"Reduce": "REDUCE", "Allreduce": "ALLREDUCE", "Reduce_scatter": "REDUCE_SCATTER",
                       "Reduce_scatter_block": "REDUCE_SCATTER", "Scan": "SCAN", "Exscan": "EXSCAN"}
REDUCTIONS = {spelling: kind for name, kind in BLOCKING_REDUCTIONS.items()
              for spelling in (name, "I" + name.lower(), name + "_init")}

# name: arguments => fields of struct lucid_coll_call (calls.h). Every row stands for MPI_X, MPI_Ix and MPI_X_init.
# Where the received and the sent data are alike, MPI_IN_PLACE is resolved to what is received.
COLLECTIVES = """
Barrier: comm => shape=TO_ALL
Bcast: buffer count datatype root comm => shape=FROM_ROOT root=root count=count type=datatype
Gather: sendbuf sendcount sendtype recvbuf recvcount recvtype root comm
    => shape=TO_ROOT root=root count=sendcount type=sendtype
Gatherv: sendbuf sendcount sendtype recvbuf recvcounts displs recvtype root comm
    => shape=TO_ROOT root=root count=sendcount type=sendtype
Scatter: sendbuf sendcount sendtype recvbuf recvcount recvtype root comm
    => shape=FROM_ROOT root=root count=sendcount type=sendtype
Scatterv: sendbuf sendcounts displs sendtype recvbuf recvcount recvtype root comm
    => shape=FROM_ROOT_V root=root counts=sendcounts type=sendtype
Allgather: sendbuf sendcount sendtype recvbuf recvcount recvtype comm
    => shape=TO_ALL count=IN_PLACE(sendbuf)?recvcount:sendcount type=IN_PLACE(sendbuf)?recvtype:sendtype
Allgatherv: sendbuf sendcount sendtype recvbuf recvcounts displs recvtype comm
    => shape=TO_ALL count=IN_PLACE(sendbuf)?OWN(recvcounts):sendcount type=IN_PLACE(sendbuf)?recvtype:sendtype
Alltoall: sendbuf sendcount sendtype recvbuf recvcount recvtype comm
    => shape=TO_ALL count=IN_PLACE(sendbuf)?recvcount:sendcount type=IN_PLACE(sendbuf)?recvtype:sendtype
Alltoallv: sendbuf sendcounts sdispls sendtype recvbuf recvcounts rdispls recvtype comm
    => shape=VECTOR counts=IN_PLACE(sendbuf)?recvcounts:sendcounts type=IN_PLACE(sendbuf)?recvtype:sendtype
Alltoallw: sendbuf sendcounts sdispls sendtypes recvbuf recvcounts rdispls recvtypes comm
    => shape=VECTOR counts=IN_PLACE(sendbuf)?recvcounts:sendcounts types=IN_PLACE(sendbuf)?recvtypes:sendtypes
Reduce: sendbuf recvbuf count datatype op root comm => shape=TO_ROOT root=root count=count type=datatype
Allreduce: sendbuf recvbuf count datatype op comm => shape=TO_ALL count=count type=datatype
Reduce_scatter: sendbuf recvbuf recvcounts datatype op comm => shape=VECTOR counts=recvcounts type=datatype
Reduce_scatter_block: sendbuf recvbuf recvcount datatype op comm => shape=TO_ALL count=recvcount type=datatype
Scan: sendbuf recvbuf count datatype op comm => shape=TO_HIGHER count=count type=datatype
Exscan: sendbuf recvbuf count datatype op comm => shape=TO_HIGHER count=count type=datatype
Neighbor_allgather: sendbuf sendcount sendtype recvbuf recvcount recvtype comm
    => shape=NEIGHBORS count=sendcount type=sendtype
Neighbor_allgatherv: sendbuf sendcount sendtype recvbuf recvcounts displs recvtype comm
    => shape=NEIGHBORS count=sendcount type=sendtype
Neighbor_alltoall: sendbuf sendcount sendtype recvbuf recvcount recvtype comm
    => shape=NEIGHBORS count=sendcount type=sendtype
Neighbor_alltoallv: sendbuf sendcounts sdispls sendtype recvbuf recvcounts rdispls recvtype comm
    => shape=NEIGHBORS_V counts=sendcounts type=sendtype
Neighbor_alltoallw: sendbuf sendcounts sdispls sendtypes recvbuf recvcounts rdispls recvtypes comm
    => shape=NEIGHBORS_V counts=sendcounts types=sendtypes
"""


def collectives():
    for row in rows("", "coll", COLLECTIVES):
        kind = "NEIGHBOR" if row.name.startswith("Neighbor") else row.name.upper()
        row = row._replace(kind=kind)
        yield row
        yield row._replace(name="I" + row.name.lower(), arguments=row.arguments + ("request",), action="icoll")
        yield row._replace(name=row.name + "_init", arguments=row.arguments + ("info", "request"), action="coll_init")


def one_sided():
    put = "origin_addr origin_count origin_datatype target_rank target_disp target_count target_datatype "
    accumulate = put + "op "
    get_accumulate = ("origin_addr origin_count origin_datatype result_addr result_count result_datatype target_rank "
                      "target_disp target_count target_datatype op ")
    moved = "lucid_call_one_sided(LUCID_KIND_%s, origin_count, origin_datatype, target_rank, win)"
    # with MPI_NO_OP the origin's buffer is not read: it is a get, and what it moves is the result
    fetched = ("lucid_call_one_sided(LUCID_KIND_ACCUMULATE, op == MPI_NO_OP ? result_count : origin_count, "
               "op == MPI_NO_OP ? result_datatype : origin_datatype, target_rank, win)")
    one = "lucid_call_one_sided(LUCID_KIND_%s, 1, datatype, target_rank, win)"
    for name, arguments, kind, report in (
            ("Put", put, "PUT", moved % "PUT"),
            ("Get", put, "GET", moved % "GET"),
            ("Accumulate", accumulate, "ACCUMULATE", moved % "ACCUMULATE"),
            ("Get_accumulate", get_accumulate, "ACCUMULATE", fetched)):
        yield Function(name, tuple((arguments + "win").split()), kind, "count", report)
        yield Function("R" + name.lower(), tuple((arguments + "win request").split()), kind, "count", report)
    yield Function("Fetch_and_op", tuple("origin_addr result_addr datatype target_rank target_disp op win".split()),
                   "FETCH_AND_OP", "count", one % "FETCH_AND_OP")
    yield Function("Compare_and_swap",
                   tuple("origin_addr compare_addr result_addr datatype target_rank target_disp win".split()),
                   "COMPARE_AND_SWAP", "count", one % "COMPARE_AND_SWAP")


def windows():
    yield from rows("WINDOW", "window", """
Win_create: base size disp_unit info comm win
Win_allocate: size disp_unit info comm baseptr win
Win_allocate_shared: size disp_unit info comm baseptr win
Win_create_dynamic: info comm win
Win_free: win
""")
    yield from rows("WINDOW", "label", """
Win_fence: assert win
Win_start: group assert win
Win_complete: win
Win_post: group assert win
Win_wait: win
Win_test: win flag
Win_lock: lock_type rank assert win
Win_unlock: rank win
Win_lock_all: assert win
Win_unlock_all: win
Win_flush: rank win
Win_flush_all: win
Win_flush_local: rank win
Win_flush_local_all: win
Win_sync: win
""")


def communicators():
    yield from rows("COMM", "label", """
Comm_dup: comm newcomm
Comm_dup_with_info: comm info newcomm
Comm_create: comm group newcomm
Comm_create_group: comm group tag newcomm
Comm_create_from_group: group stringtag info errhandler newcomm
Comm_split: comm color key newcomm
Comm_split_type: comm split_type key info newcomm
Comm_free: comm
Comm_disconnect: comm
Comm_accept: port_name info root comm newcomm
Comm_connect: port_name info root comm newcomm
Comm_join: fd intercomm
Comm_spawn: command argv maxprocs info root comm intercomm errcodes
Comm_spawn_multiple: count commands argvs maxprocs infos root comm intercomm errcodes
Intercomm_create: local_comm local_leader peer_comm remote_leader tag newintercomm
Intercomm_create_from_groups: local_group local_leader remote_group remote_leader stringtag info errhandler newintercomm
Intercomm_merge: intercomm high newintracomm
Cart_sub: comm remain_dims newcomm
""")
    yield from rows("COMM", "arrange", """
Cart_create: comm ndims dims periods reorder newcomm => lucid_arrange_cart(comm, ndims, dims, periods)
Graph_create: comm nnodes index edges reorder newcomm => lucid_arrange_graph(comm, nnodes, index, edges)
Dist_graph_create: comm n sources degrees destinations weights info reorder newcomm
    => lucid_arrange_dist(comm, n, sources, degrees, destinations, weights)
Dist_graph_create_adjacent: comm indegree sources sourceweights outdegree destinations destweights info reorder newcomm
    => lucid_arrange_adjacent(comm, &lists)
""")
    yield from rows("COMM", "icomm", """
Comm_idup: comm newcomm request
Comm_idup_with_info: comm info newcomm request
""")


def files():
    yield from rows("FILE", "label", """
File_open: comm filename amode info fh
File_close: fh
File_set_size: fh size
File_preallocate: fh size
File_set_view: fh disp etype filetype datarep info
File_set_info: fh info
File_set_atomicity: fh flag
File_sync: fh
File_seek_shared: fh offset whence
File_get_position_shared: fh offset
""")
    data = "buf count datatype"
    for way in ("read", "write"):
        for name, arguments in ((way + "_all", "fh " + data), (way + "_at_all", "fh offset " + data),
                                (way + "_shared", "fh " + data), (way + "_ordered", "fh " + data)):
            yield Function("File_" + name, tuple((arguments + " status").split()), "FILE", "label", "")
        for name, arguments in ((way + "_all", "fh " + data), (way + "_at_all", "fh offset " + data),
                                (way + "_shared", "fh " + data)):
            yield Function("File_i" + name, tuple((arguments + " request").split()), "FILE", "label", "")
        for name, arguments in ((way + "_all", "fh " + data), (way + "_at_all", "fh offset " + data),
                                (way + "_ordered", "fh " + data)):
            yield Function(f"File_{name}_begin", tuple(arguments.split()), "FILE", "label", "")
            yield Function(f"File_{name}_end", ("fh", "buf", "status"), "FILE", "label", "")


def environment():
    yield Function("Init", ("argc", "argv"), "", "init", "")
    yield Function("Init_thread", ("argc", "argv", "required", "provided"), "", "init", "")
    yield Function("Finalize", (), "", "finalize", "")
    yield Function("Pcontrol", ("level",), "", "pcontrol", "")


# Fortran differs from C: MPI_Init and MPI_Init_thread take no command line, these return no error code, ...
FORTRAN_WITHOUT_IERROR = {"Pcontrol"}
# ... these functions have a second name, for interfaces with type(c_ptr), ...
FORTRAN_SECOND_NAMES = {"Win_allocate": "Win_allocate_cptr", "Win_allocate_shared": "Win_allocate_shared_cptr"}
# ... and these have CHARACTER arguments, whose lengths follow the others, by value.
FORTRAN_LENGTHS = {"Comm_accept": 1, "Comm_connect": 1, "Comm_create_from_group": 1, "Comm_spawn": 2,
                   "Comm_spawn_multiple": 2, "File_open": 1, "File_set_view": 1, "Intercomm_create_from_groups": 1}

# One emitted C and Fortran file for each.
GROUPS = {
    "p2p": point_to_point,
    "coll": collectives,
    "window": lambda: [*one_sided(), *windows()],
    "comm": lambda: [*communicators(), *environment()],
    "file": files,
}
