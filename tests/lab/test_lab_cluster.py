# SPDX-License-Identifier: BSD-3-Clause
"""A lab that is up: what its nodes are, what is between them, and MPI over them."""
import json
import os
import re
import subprocess
import tempfile

import pytest

from conftest import LINGER

NODES = ["node00", "node01", "node02", "node03"]


def test_every_node_has_its_name(cluster):
    assert [cluster.ok("exec", n, "hostname").strip() for n in range(4)] == NODES
    assert cluster.ok("exec", "node02", "cat", "/proc/sys/kernel/hostname").strip() == "node02"
    assert cluster.ok("exec", "hub", "hostname").strip() == "hub"


@pytest.mark.parametrize("folder", ["/tmp", "/dev/shm"])
def test_a_node_has_directories_of_its_own(cluster, folder):
    for node in range(4):
        cluster.ok("exec", node, "sh", "-c", 'echo "$1" >"$0/lucid-private"', folder, node)
    found = [cluster.ok("exec", node, "cat", folder + "/lucid-private").strip() for node in range(4)]
    assert found == ["0", "1", "2", "3"]
    assert not os.path.exists(folder + "/lucid-private")


def test_a_node_sees_the_checkout(cluster):
    assert cluster.run("exec", 3, "test", "-x", os.path.join(os.path.dirname(__file__), "../../lab/lab")).returncode == 0


def test_exec_keeps_directory_input_output_and_exit_code(cluster):
    done = cluster.run("exec", 1, "sh", "-c", "pwd; cat; echo no >&2; exit 9", input="yes\n", cwd=os.path.dirname(__file__))
    assert (done.returncode, done.stdout, done.stderr) == (9, os.path.dirname(os.path.abspath(__file__)) + "\nyes\n", "no\n")


def test_a_directory_that_the_nodes_do_not_see_is_named(cluster):
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        done = cluster.run("exec", 1, "pwd", cwd=folder)
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr == ("lab: the nodes do not see the directory %s; start the lab from there or with --keep %s\n"
                           % (folder, folder))


def test_a_link_is_limited(cluster):
    for node in range(4):
        text = cluster.ok("exec", node, "tc", "-s", "class", "show", "dev", "eth0")
        assert "htb" in text and re.search(r"rate 1Gbit ceil 1Gbit burst 8(\d\d\d|K)b", text)
        text = cluster.ok("exec", "hub", "tc", "class", "show", "dev", "port%d" % node)
        assert "rate 1Gbit ceil 1Gbit" in text


SEND = """
import socket, sys
data = bytes(1000000)
with socket.create_connection((sys.argv[1], 7000)) as s:
    s.sendall(data)
    s.shutdown(socket.SHUT_WR)
    assert s.recv(16) == b"%d" % len(data)
"""
RECEIVE = """
import socket
with socket.create_server(("", 7000)) as server:
    print("listening", flush=True)
    peer, _ = server.accept()
    total = 0
    while True:
        piece = peer.recv(65536)
        if not piece:
            break
        total += len(piece)
    peer.sendall(b"%d" % total)
    print(total)
"""


def test_bytes_cross_the_link_and_its_limiter(cluster):
    def limiter(node):
        text = cluster.ok("exec", node, "tc", "-s", "class", "show", "dev", "eth0")
        return int(re.search(r"Sent (\d+) bytes", text).group(1)), int(re.search(r"overlimits (\d+)", text).group(1))

    before = [cluster.counter(node, "tx_bytes") for node in range(4)]
    limited = limiter(1)
    receiver = cluster.popen("exec", 2, "/usr/bin/python3", "-c", RECEIVE)
    assert receiver.stdout.readline() == "listening\n"
    cluster.ok("exec", 1, "/usr/bin/python3", "-c", SEND, "node02")
    assert receiver.communicate()[0] == "1000000\n"
    grown = [cluster.counter(node, "tx_bytes") - old for node, old in zip(range(4), before)]
    assert 1000000 < grown[1] < 1100000
    assert 0 < grown[2] < 60000 and grown[0] < 1000 and grown[3] < 1000
    sent, over = (new - old for new, old in zip(limiter(1), limited))
    assert sent >= 1000000 and over > 0


def hosts_seen(text):
    rows = re.findall(r"^rank (\d+) host (\w+) shared (\d+) hosts (\d+)$", text, re.MULTILINE)
    return {int(rank): (host, int(shared), int(hosts)) for rank, host, shared, hosts in rows}


def test_an_mpi_program_sees_four_hosts(cluster, program):
    before = sum(cluster.counter(node, "tx_bytes") for node in range(4))
    seen = hosts_seen(cluster.ok("mpirun", "-n", 16, program("lab_hosts")))
    assert seen == {rank: (NODES[rank // 4], 4, 4) for rank in range(16)}
    assert sum(cluster.counter(node, "tx_bytes") for node in range(4)) > before + 10000


def test_mpiexec_is_the_same(cluster, program):
    assert len(hosts_seen(cluster.ok("mpiexec", "-n", 5, program("lab_hosts")))) == 5


def test_the_launcher_works_within_a_node(cluster, program):
    lab = os.path.abspath(os.path.join(os.path.dirname(__file__), "../../lab/lab"))
    assert len(hosts_seen(cluster.ok("exec", 0, lab, "mpirun", "-n", 6, program("lab_hosts")))) == 6


def test_the_environment_reaches_every_rank(cluster):
    script = 'echo "$LUCID_PROBE:$LUCID_FORWARDED:$TMPDIR:$(hostname)"' + LINGER
    text = cluster.ok("mpirun", "-x", "LUCID_FORWARDED=b c", "-n", 16, "sh", "-c", script,
                      env={"LUCID_PROBE": "a", "TMPDIR": "/var/tmp"})
    assert sorted(text.splitlines()) == ["a:b c:/tmp:" + node for node in NODES for _ in range(4)]


def test_what_the_user_sets_comes_first(cluster):
    def parameter(*options, **settings):
        return cluster.ok("mpirun", *options, "-n", 1, "sh", "-c", "echo $OMPI_MCA_mpi_yield_when_idle" + LINGER,
                          env=settings).strip()

    assert parameter() == "1"
    assert parameter(OMPI_MCA_mpi_yield_when_idle="0") == "0"
    assert parameter("--mca", "mpi_yield_when_idle", "0") == "0"


def test_input_and_exit_code_of_a_job(cluster):
    assert cluster.ok("mpirun", "-n", 2, "sh", "-c", "cat" + LINGER, input="through\n") == "through\n"
    assert cluster.run("mpirun", "-n", 4, "sh", "-c", "sleep 0.5; exit 3").returncode == 3


def test_a_missing_or_foreign_launcher_is_named(cluster, tmp_path):
    needed = ["bash", "readlink", "id", "head", "tr"]
    for name in needed:
        path = subprocess.run(["which", name], stdout=subprocess.PIPE, universal_newlines=True).stdout.strip()
        (tmp_path / name).symlink_to(path)
    done = cluster.run("mpirun", "-n", 1, "true", env={"PATH": str(tmp_path)})
    assert done.returncode == 1
    assert done.stderr == "lab: there is no mpirun on PATH; install an MPI library or add its bin directory to PATH\n"
    (tmp_path / "mpirun").write_text("#!/bin/sh\necho something else 1.0\n")
    (tmp_path / "mpirun").chmod(0o755)
    done = cluster.run("mpirun", "-n", 1, "true", env={"PATH": str(tmp_path)})
    assert done.returncode == 1
    assert done.stderr == "lab: %s/mpirun is neither Open MPI's nor MPICH's launcher\n" % tmp_path


def test_status_tells_the_bytes_of_every_link(cluster):
    text = cluster.ok("status").splitlines()
    assert text[0].startswith("lab: 4 nodes of 4 slots, links of 1gbit (htb), mtu 1500, in ")
    rows = [re.fullmatch(r"(node\d\d) (10\.77\.0\.\d+): sent (\d+) bytes, received (\d+) bytes", row) for row in text[1:]]
    assert [row.group(1) for row in rows] == NODES
    assert len({row.group(2) for row in rows}) == 4


def test_two_labs_side_by_side(cluster, lab):
    lab.ok("up", "--nodes", 2, "--slots", 1)
    assert cluster.ok("exec", 1, "hostname") == lab.ok("exec", 1, "hostname") == "node01\n"
    before = cluster.counter(0, "tx_bytes")
    links = json.loads(lab.ok("exec", 0, "ip", "-json", "link", "show"))
    assert sorted(link["ifname"] for link in links) == ["eth0", "lo"]
    assert "10.77.0.12" not in lab.ok("exec", 0, "cat", "/etc/hosts")
    lab.ok("down")
    assert cluster.counter(0, "tx_bytes") == before
