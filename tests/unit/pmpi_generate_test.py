# SPDX-License-Identifier: BSD-3-Clause
"""The generator of the wrappers: what it makes of an mpi.h, and whether the library built from it covers what the installed
MPI library offers.

usage: pmpi_generate_test.py [--nm NM --library LIBLUCID [MPI_LIBRARY ...]]
"""
import os
import re
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "src", "pmpi"))
import emit_c  # noqa: E402
import emit_fortran  # noqa: E402
import functions  # noqa: E402
import generate  # noqa: E402
import mpi_header  # noqa: E402

HEADER = """
typedef struct ompi_communicator_t *MPI_Comm;
__attribute__((visibility("default"))) int MPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest,
    int tag, MPI_Comm comm) __attribute__((pointer_with_type_tag(MPI,1,3)));
int PMPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm);
int MPI_Bcast_c(void *buffer, MPI_Count n, MPI_Datatype type, int root, MPI_Comm comm) ;
int PMPI_Bcast_c(void *, MPI_Count, MPI_Datatype, int, MPI_Comm);
int MPI_Alltoallv(void *, const int *, const int *, MPI_Datatype, void *, const int *, const int *, MPI_Datatype, MPI_Comm);
int PMPI_Alltoallv(void *, const int *, const int *, MPI_Datatype, void *, const int *, const int *, MPI_Datatype, MPI_Comm);
int MPI_Ssend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm);
int MPI_Pcontrol(const int level, ...);
int PMPI_Pcontrol(const int level, ...);
int MPI_Wait(MPI_Request *request, MPI_Status *status);
int PMPI_Wait(MPI_Request *request, MPI_Status *status);
int MPI_Finalize(void);
int PMPI_Finalize(void);
int MPI_Startall(int count, MPI_Request array_of_requests[]);
int PMPI_Startall(int count, MPI_Request array_of_requests[]);
int MPI_Op_create(MPI_User_function *f, int commute, MPI_Op *op);
int PMPI_Op_create(MPI_User_function *f, int commute, MPI_Op *op);
"""


def all_rows():
    return [function for table in functions.GROUPS.values() for function in table()]


def row(name):
    return next(function for function in all_rows() if function.name == name)


class Header(unittest.TestCase):
    found = mpi_header.declarations(HEADER)

    def test_types_come_from_the_header(self):
        self.assertEqual([(p.type, p.name) for p in self.found["MPI_Send"]][:2], [("const void *", "buf"), ("int", "count")])
        self.assertEqual(self.found["MPI_Startall"][1].suffix, "[]")
        self.assertEqual([p.type for p in self.found["MPI_Alltoallv"]][:2], ["void *", "const int *"])
        self.assertEqual(self.found["MPI_Finalize"], [])

    def test_what_has_no_profiling_twin_is_left_alone(self):
        self.assertNotIn("MPI_Ssend", self.found)

    def test_only_what_is_declared_is_wrapped(self):
        self.assertEqual([name for name, _ in generate.declared(row("Bcast"), self.found)], ["MPI_Bcast_c"])
        self.assertEqual(list(generate.declared(row("Gather"), self.found)), [])

    def test_another_number_of_arguments_is_an_error(self):
        header = {"MPI_Send": self.found["MPI_Send"][:-1]}
        with self.assertRaisesRegex(SystemExit, "MPI_Send with 5 arguments, functions.py knows 6"):
            list(generate.declared(row("Send"), header))


class Emitted(unittest.TestCase):
    found = Header.found

    def c_text(self, name):
        return "".join(emit_c.wrapper(row(name), *declared) for declared in generate.declared(row(name), self.found))

    def fortran_text(self, name):
        return "".join(emit_fortran.wrapper(row(name), *declared) for declared in generate.declared(row(name), self.found))

    def test_c(self):
        text = self.c_text("Send")
        self.assertIn("int MPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)", text)
        self.assertIn("PMPI_Send(buf, count, datatype, dest, tag, comm)", text)
        self.assertLess(text.index("lucid_call_enter"), text.index("PMPI_Send"))
        self.assertLess(text.index("PMPI_Send"), text.index("lucid_call_send("))
        self.assertIn("MPI_Pcontrol(const int level, ...)", self.c_text("Pcontrol"))

    def test_what_is_timed_and_nothing_else(self):
        text = self.c_text("Wait")
        self.assertLess(text.index("lucid_call_watch()"), text.index("PMPI_Wait(request, status)"))
        self.assertLess(text.index("PMPI_Wait(request, status)"), text.index("lucid_call_unwatch("))
        self.assertNotIn("lucid_call_enter", text)

    def test_fields(self):
        self.assertIn(".counts = IN_PLACE(sendbuf) ? recvcounts : sendcounts", self.c_text("Alltoallv"))

    def test_large_counts(self):
        self.assertIn("MPI_Bcast_c(void *buffer, MPI_Count count,", self.c_text("Bcast"))
        text = self.fortran_text("Bcast")
        self.assertIn("const MPI_Count count = *(const MPI_Count *)f_count;", text)
        self.assertIn("mpi_bcast_c_f08ts_", text)
        self.assertNotIn("mpi_bcast_f08_(", text)

    def test_fortran_forwards_every_argument(self):
        text = self.fortran_text("Send")
        self.assertIn("(f_buf, f_count, f_datatype, f_dest, f_tag, f_comm, ierror);", text)
        self.assertIn("const MPI_Count count = *(const MPI_Fint *)f_count;", text)
        self.assertIn("mpi_pcontrol_(void *f_level)", self.fortran_text("Pcontrol"))
        self.assertIn("mpi_finalize_(MPI_Fint *ierror)", self.fortran_text("Finalize"))

    def test_no_name_that_may_be_a_c_function_of_the_program(self):
        exported = re.findall(r"LUCID_WRAPPER \w+ (\w+)\(", self.fortran_text("Send") + self.fortran_text("Finalize"))
        self.assertIn("mpi_send_", exported)
        self.assertNotIn("mpi_send", exported)
        self.assertNotIn("mpi_finalize", exported)


class Table(unittest.TestCase):
    def test_names_are_unique(self):
        names = [function.name for function in all_rows()]
        self.assertEqual(sorted(names), sorted(set(names)))

    def test_actions_are_known_and_used(self):
        self.assertEqual({function.action for function in all_rows()}, set(functions.ACTIONS))

    def test_reports_speak_of_arguments(self):
        known = {"lucid_call_send", "lucid_call_send_init", "lucid_call_psend_init", "lucid_call_pready", "IN_PLACE", "OWN",
                 "lucid_call_one_sided", "MPI_NO_OP", "shape", "root", "count", "counts", "type", "types", "lists"}
        for function in all_rows():
            words = set(re.findall(r"[A-Za-z_]\w*", function.report)) - known - set(function.arguments)
            words = {word for word in words if not re.match(r"LUCID_KIND_|lucid_arrange_|[A-Z_]+$", word)}
            self.assertEqual(words, set(), function.name)


class Library(unittest.TestCase):
    """Set from the command line."""
    nm, library, mpi_libraries = None, None, []

    @classmethod
    def symbols(cls, path):
        text = subprocess.run([cls.nm, "-D", path], capture_output=True, text=True, check=True).stdout
        words = [line.split() for line in text.splitlines()]
        defined = {w[-1].split("@")[0] for w in words if w[-2] not in "Uw"}
        return defined, {w[-1].split("@")[0] for w in words if w[-2] in "Uw"}

    def setUp(self):
        if self.library is None:
            self.skipTest("no library given")
        self.exported, self.wanted = self.symbols(self.library)

    def test_every_wrapper_calls_its_twin(self):
        wrapped = {name for name in self.exported if re.match(r"MPIX?_[A-Z][a-z]", name)} - {"MPI_Monitoring"}
        wrapped = {name for name in wrapped if not name.startswith("MPI_M_")}
        self.assertGreater(len(wrapped), 150)
        self.assertEqual({name for name in wrapped if "P" + name not in self.wanted}, set())

    def test_lucid_goes_past_the_wrappers(self):
        self.assertEqual({name for name in self.wanted if re.match(r"MPIX?_(?!T_)[A-Z][a-z]", name)}, set())

    def test_every_fortran_entry_point_is_covered(self):
        names = {function.name.lower() for function in all_rows()}
        for path in self.mpi_libraries:
            offered = {s for s in self.symbols(path)[0] if re.match(r"mpix?_\w+_$", s) and not s.endswith("__")}
            ours = {s for s in offered
                    if re.sub(r"^mpix?_|(_c)?(_f08(ts)?)?(_large)?_$", "", s) in names}
            self.assertEqual(ours - self.exported, set(), path)


if __name__ == "__main__":
    if "--nm" in sys.argv:
        at = sys.argv.index("--nm")
        Library.nm, Library.library = sys.argv[at + 1], sys.argv[at + 3]
        Library.mpi_libraries = [path for path in sys.argv[at + 4:] if "mpi" in os.path.basename(path)]
        del sys.argv[at:]
    unittest.main()
