# SPDX-License-Identifier: BSD-3-Clause
"""What Lucid says against what the network cards say. Bytes only: nothing here depends on how fast the machine is.

A card counts frames. Of each frame HEADERS bytes are Ethernet, IPv4 and TCP (14 + 20 + 20, and 12 for TCP's time stamps);
acknowledgements are frames of nothing else. A card counts what the kernel hands to it, and that may be a chain of segments with
one header: so the number of frames is read too, not computed from the MTU. What is left then is the MPI library's
own: headers of messages and fragments, and the control messages of the rendezvous.
"""
import csv
import json
import os
import shutil
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
LAB = os.path.join(ROOT, "lab", "lab")
HEADERS = 66


class Comparison:
    """Bytes that Lucid saw leave a place, and what the card there counted."""

    def __init__(self, messages, monitored, nic_bytes, nic_packets):
        self.messages, self.monitored, self.nic_bytes, self.nic_packets = messages, monitored, nic_bytes, nic_packets

    @property
    def payload(self):
        """What the card sent without the headers of Ethernet, IP and TCP."""
        return self.nic_bytes - HEADERS * self.nic_packets

    @property
    def raw(self):
        """How much Lucid's figure lies off the card's, as a fraction of the card's."""
        return (self.monitored - self.nic_bytes) / self.nic_bytes

    @property
    def net(self):
        """The same for the payload."""
        return (self.monitored - self.payload) / self.nic_bytes

    @property
    def per_message(self):
        """Bytes of the MPI library's own per message."""
        return (self.payload - self.monitored) / self.messages if self.messages else 0.0

    def __add__(self, other):
        return Comparison(self.messages + other.messages, self.monitored + other.monitored,
                          self.nic_bytes + other.nic_bytes, self.nic_packets + other.nic_packets)


# Says which lab it is in, and stays until its input ends: the lab goes with the process that holds the other end.
HOLD = ["sh", "-c", 'echo "$LUCID_LAB"; exec cat']


class Cluster:
    """A lab of its own, up while the `with` block runs, and no longer than this process."""

    def __init__(self, nodes=4, slots=4, rate="1gbit", home="/var/tmp"):
        self.nodes, self.options = nodes, ["--nodes", str(nodes), "--slots", str(slots), "--rate", rate]
        self.home = tempfile.mkdtemp(prefix="lucid-wire-", dir=home)
        self.env = dict(os.environ, XDG_RUNTIME_DIR=self.home)
        self.holder = None

    def __enter__(self):
        self.holder = subprocess.Popen([LAB, "with", *self.options, "--", *HOLD], env=self.env, stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, universal_newlines=True)
        state = self.holder.stdout.readline().strip()
        if not state:
            self.__exit__()
            raise RuntimeError("no lab could be made")
        self.env["LUCID_LAB"] = state
        return self

    def __exit__(self, *_):
        self.holder.communicate()
        shutil.rmtree(self.home)

    def run(self, command, **options):
        """Runs a command beside the lab, in which lab/lab finds it; the output, and an exception if it fails."""
        env = dict(self.env, **options.pop("env", {}))
        done = subprocess.run([str(word) for word in command], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, universal_newlines=True, check=False, **options)
        if done.returncode != 0:
            raise RuntimeError("%s: exit code %d\n%s%s" % (" ".join(map(str, command)), done.returncode, done.stdout[-2000:],
                                                           done.stderr[-2000:]))
        return done.stdout

    def lab(self, *arguments, **options):
        return self.run([LAB, *arguments], **options)

    def sent(self):
        """(bytes, packets) that left all nodes since the lab was made."""
        total = [0, 0]
        for node in range(self.nodes):
            for i, name in enumerate(("tx_bytes", "tx_packets")):
                total[i] += int(self.lab("exec", node, "cat", "/sys/class/net/eth0/statistics/" + name))
        return tuple(total)


def pair(cluster, program, rows, messages=380, pause=(5, 100), seed=1, env=None):
    """Figures 2 and 3 of the paper: {name: value} as wire_pair prints it. `rows` is the CSV file it writes."""
    out = cluster.lab("mpirun", "-n", 2, "--map-by", "node", program, rows, messages, *pause, seed, env=env or {})
    return {name: int(value) for name, value in (line.split() for line in out.splitlines())}


def pair_comparison(totals):
    return Comparison(totals["session_messages"], totals["session_bytes"], totals["nic_bytes"], totals["nic_packets"])


def patterns(cluster, program, ranks=16, only=(), env=None):
    """{pattern: [Comparison of each node]}"""
    out = cluster.lab("mpirun", "-n", ranks, program, *only, env=env or {})
    found = {}
    for row in csv.DictReader(out.splitlines()):
        numbers = [int(row[key]) for key in ("messages", "bytes", "nic_bytes", "nic_packets")]
        found.setdefault(row["pattern"], []).append(Comparison(*numbers))
    return found


def between_nodes(session):
    """(messages, bytes) between ranks of different nodes in a report's run.json."""
    node = {row["rank"]: row["node"] for row in session["ranks"]}
    cells = [cell for cell in session["cells"] if node[cell[0]] != node[cell[1]]]
    return sum(cell[3] for cell in cells), sum(cell[4] for cell in cells)


def application(cluster, lucid, ranks, command, report, per_node=None, **options):
    """Runs a program under `lucid run` in the lab: (Comparison of all nodes, the report's run.json)."""
    spread = ["--map-by", "ppr:%d:node" % per_node] if per_node else []
    before = cluster.sent()
    cluster.run([*lucid, "run", "--force", "-o", report, "--", LAB, "mpirun", "-n", ranks, *spread, *command], **options)
    after = cluster.sent()
    with open(os.path.join(report, "run.json"), encoding="utf-8") as stream:
        session = json.load(stream)
    messages, monitored = between_nodes(session)
    return Comparison(messages, monitored, after[0] - before[0], after[1] - before[1]), session
