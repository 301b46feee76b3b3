# SPDX-License-Identifier: BSD-3-Clause
"""Making and removing a lab: options, misuse, and what is left when something is killed (nothing)."""
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time

import pytest

from conftest import LAB, ROOT, Lab, eventually


@pytest.mark.parametrize("arguments, message", [
    ([], "no command given; see lab --help"),
    (["fly"], "unknown command 'fly'; see lab --help"),
    (["up", "--nodes"], "--nodes needs a value"),
    (["up", "--nodes", "0"], "--nodes must be a number from 1 to 240, not '0'"),
    (["up", "--nodes", "241"], "--nodes must be a number from 1 to 240, not '241'"),
    (["up", "--slots=x"], "--slots must be a number from 1 to 1024, not 'x'"),
    (["up", "--mtu", "100"], "--mtu must be a number from 576 to 65535, not '100'"),
    (["up", "--rate", "fast"], "--rate must be a rate such as 1gbit or 200mbit, not 'fast'"),
    (["up", "--rate", "0mbit"], "--rate must be a rate such as 1gbit or 200mbit, not '0mbit'"),
    (["up", "--racks", "2", "--uplink", "-1"], "--uplink must be a rate such as 1gbit or 200mbit, not '-1'"),
    (["up", "--qdisc", "fifo"], "--qdisc must be htb, tbf or none, not 'fifo'"),
    (["up", "--keep", "/nonexistent"], "--keep /nonexistent: no such directory"),
    (["up", "--keep", "/tmp"], "--keep /tmp: every node has a /tmp of its own; name a directory in it"),
    (["up", "--racks", "5"], "--racks 5 is more than --nodes 4"),
    (["up", "--uplink", "1gbit"], "--uplink needs --racks of at least 2"),
    (["up", "-n", "4"], "unknown option '-n'; see lab --help"),
    (["up", "--fast=1"], "unknown option '--fast'; see lab --help"),
    (["up", "--", "true"], "up takes no command; use: lab with ... -- COMMAND"),
    (["with", "--nodes", "2"], "usage: lab with [OPTIONS] -- COMMAND..."),
    (["exec", "0"], "usage: lab exec NODE COMMAND..."),
    (["down", "now"], "down takes no arguments"),
    (["status", "now"], "status takes no arguments"),
    (["check", "now"], "check takes no arguments"),
])
def test_a_bad_call_gives_one_line_and_code_2(lab, arguments, message):
    done = lab.run(*arguments)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "lab: %s\n" % message)
    assert not os.path.exists(lab.state)


@pytest.mark.parametrize("arguments", [["exec", "0", "true"], ["mpirun", "-n", "1", "true"]])
def test_without_a_lab(lab, arguments):
    done = lab.run(*arguments)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "lab: no lab is up in %s; start one with: lab up\n" % lab.state


def test_help_and_check(lab):
    assert lab.ok("--help").startswith("usage: lab up [OPTIONS]")
    assert lab.ok("check") == "lab: a lab can be made here\n"


def test_up_and_down(lab):
    assert lab.run("status").returncode == 1
    assert lab.ok("up", "--nodes", 2, "--slots", 3) == (
        "lab: 2 nodes of 3 slots, links of 1gbit (htb), mtu 1500, in %s\n" % lab.state)
    again = lab.run("up")
    assert again.returncode == 1
    assert again.stderr == "lab: a lab is up in %s already; remove it with: lab down\n" % lab.state
    unknown = lab.run("exec", 2, "true")
    assert (unknown.returncode, unknown.stderr) == (2, "lab: there is no node '2': the nodes are 0 to 1, and hub\n")
    lab.ok("down")
    assert not os.path.exists(lab.state) and lab.processes() == {}
    lab.ok("down")


def test_the_machine_sees_nothing_of_a_lab(lab):
    def machine():
        with open("/proc/self/mountinfo") as stream:
            mounts = stream.read()
        return mounts, sorted(os.listdir("/sys/class/net")), os.uname().nodename

    before = machine()
    lab.ok("up", "--nodes", 2)
    assert machine() == before
    lab.ok("down")
    assert machine() == before


def test_racks_rates_and_mtu(lab):
    lab.ok("up", "--nodes", 3, "--slots", 1, "--racks", 2, "--uplink", "100mbit", "--rate", "200mbit", "--mtu", 9000)
    links = lab.ok("exec", "hub", "ip", "-o", "link", "show")
    for port, rack in (("port0", "rack0"), ("port1", "rack0"), ("port2", "rack1"), ("up1", "rack1"), ("down1", "core")):
        assert re.search(r" %s@.* mtu 9000 .* master %s " % (port, rack), links)
    assert "rate 100Mbit" in lab.ok("exec", "hub", "tc", "class", "show", "dev", "up0")
    assert "rate 100Mbit" in lab.ok("exec", "hub", "tc", "class", "show", "dev", "down1")
    assert "rate 200Mbit" in lab.ok("exec", 2, "tc", "class", "show", "dev", "eth0")
    assert lab.ok("exec", 2, "cat", "/sys/class/net/eth0/mtu") == "9000\n"


def test_congestion_control_is_not_the_machine_s(lab):
    lab.ok("up", "--nodes", 2)
    for node in range(2):
        assert lab.ok("exec", node, "cat", "/proc/sys/net/ipv4/tcp_congestion_control") == "reno\n"


@pytest.mark.parametrize("kind, expected", [("tbf", "qdisc tbf"), ("none", "qdisc noqueue")])
def test_other_limiters(lab, kind, expected):
    lab.ok("up", "--nodes", 2, "--qdisc", kind)
    assert expected in lab.ok("exec", 0, "tc", "qdisc", "show", "dev", "eth0")


def test_kept_directories_are_seen(lab):
    with tempfile.TemporaryDirectory(dir="/tmp") as kept, tempfile.TemporaryDirectory(dir="/tmp") as here:
        for folder in (kept, here):
            with open(os.path.join(folder, "file"), "w") as stream:
                stream.write("seen\n")
        lab.ok("up", "--nodes", 2, "--keep", kept, cwd=here)
        assert lab.ok("exec", 1, "cat", "file", cwd=here) == lab.ok("exec", 1, "cat", kept + "/file") == "seen\n"
        tree = ROOT.split("/")[2:3] if ROOT.startswith("/tmp/") else [] # which a node sees wherever it is
        assert sorted(lab.ok("exec", 0, "ls", "/tmp").split()) == sorted([os.path.basename(f) for f in (kept, here)] + tree)
        lab.ok("down")
        assert os.listdir(kept) == os.listdir(here) == ["file"]


def test_a_directory_that_is_no_labs_is_left_alone(lab):
    os.mkdir(lab.state)
    open(os.path.join(lab.state, "precious"), "w").close()
    for command in ("up", "down"):
        done = lab.run(command)
        assert done.returncode == 1
        assert done.stderr == "lab: %s is not a lab's state; set LUCID_LAB to another directory\n" % lab.state
    assert os.listdir(lab.state) == ["precious"]
    shutil.rmtree(lab.state)


@pytest.mark.parametrize("state, message", [
    ("/nonexistent/lab", "cannot write in /nonexistent"),
    ("/var/tmp/a b", "LUCID_LAB must not contain white space, ':' or ',' (/var/tmp/a b)"),
])
def test_a_state_directory_that_cannot_be(lab, state, message):
    done = lab.run("up", env={"LUCID_LAB": state})
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "lab: %s\n" % message)


@pytest.mark.parametrize("stale", [False, True])
def test_of_labs_made_at_once_one_wins(lab, stale):
    if stale:
        lab.ok("up", "--nodes", "1")
        os.kill(lab.hub(), signal.SIGKILL)
        eventually(lambda: lab.processes() == {})
    several = [lab.popen("up", "--nodes", "2") for _ in range(4)]
    results = [(process.communicate(), process.returncode) for process in several]
    assert sorted(code for _, code in results) == [0, 1, 1, 1]
    assert all(re.search(r"is being made in|is up in", err) for (_, err), code in results if code)
    assert lab.ok("exec", 1, "hostname") == "node01\n"
    assert os.listdir(os.path.dirname(lab.state)) == ["lab"]


def test_a_killed_hub_takes_everything_along(lab):
    lab.ok("up", "--nodes", 2, "--slots", 2)
    job = lab.popen("mpirun", "-n", 4, "sleep", 86401)
    eventually(lambda: len(lab.processes("86401")) >= 4)
    os.kill(lab.hub(), signal.SIGKILL)
    assert job.wait(60) != 0
    job.communicate()
    eventually(lambda: lab.processes() == {})
    assert lab.run("status").returncode == 1
    lab.ok("up", "--nodes", 2)  # over the stale state
    assert lab.ok("exec", 0, "hostname") == "node00\n"


def test_a_recycled_pid_is_not_taken_for_the_hub(lab):
    lab.ok("up", "--nodes", 1)
    bystander = subprocess.Popen(["sleep", "86402"])
    try:
        os.kill(lab.hub(), signal.SIGKILL)
        eventually(lambda: lab.processes() == {})
        with open(os.path.join(lab.state, "hub"), "w") as stream:
            stream.write("%d 1\n" % bystander.pid)
        lab.ok("down")
        assert bystander.poll() is None
    finally:
        bystander.kill()
        bystander.wait()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_up_that_is_killed_leaves_nothing(lab, number):
    making = lab.popen("up", "--nodes", "8")
    eventually(lambda: os.path.exists(os.path.join(lab.state, "up.node00")))
    making.send_signal(number)
    making.communicate()
    if making.returncode != 0:  # else it was ready first
        eventually(lambda: lab.processes() == {})
        eventually(lambda: not os.path.exists(lab.state))
        assert os.listdir(os.path.dirname(lab.state)) == []


def test_nodes_that_still_begin_keep_no_removed_state(lab, tmp_path):
    """The hub of a lab whose maker was killed removes the state; here a node puts its mark there before the directory itself goes."""
    def instead_of(command, script):
        (tmp_path / command).write_text("#!/bin/sh\n" + script.format(real=shutil.which(command), go=tmp_path / "go"))
        (tmp_path / command).chmod(0o755)

    instead_of("hostname", 'while [ "$1" = node01 ] && [ ! -e {go} ]; do sleep 0.05; done\nexec {real} "$@"\n')
    instead_of("rm", 'for last; do :; done\n{real} -rf "$last"/*\n(: >"$LUCID_LAB/up.late") 2>/dev/null\nexec {real} -d "$last"\n')
    making = lab.popen("up", "--nodes", "8", env={"PATH": "%s:%s" % (tmp_path, os.environ["PATH"])})
    eventually(lambda: os.path.exists(os.path.join(lab.state, "node.node01")))
    making.kill()
    making.communicate()
    (tmp_path / "go").touch()
    eventually(lambda: lab.processes() == {})
    assert os.listdir(os.path.dirname(lab.state)) == []


@pytest.mark.parametrize("victim, number", [("launcher", signal.SIGKILL), ("command", signal.SIGTERM), ("command", signal.SIGKILL)])
def test_a_killed_mpirun_leaves_no_rank(lab, victim, number):
    lab.ok("up", "--nodes", 2, "--slots", 2)
    idle = len(lab.processes())
    job = lab.popen("mpirun", "-n", 4, "sleep", 86403)
    eventually(lambda: len(lab.processes("86403")) >= 4)
    if victim == "launcher":
        lab.run("exec", "hub", "pkill", "-KILL", "-x", "mpirun|prterun|mpiexec")
    else:
        job.send_signal(number)
    assert job.wait(60) != 0
    job.communicate()
    eventually(lambda: len(lab.processes()) == idle)
    assert lab.ok("exec", 1, "hostname") == "node01\n"


def test_with_runs_a_command_in_a_lab_of_its_own(lab):
    script = 'cat; "$0" mpirun -n 4 sh -c "hostname; sleep 0.5"; "$0" exec 1 hostname; exit 6'
    done = lab.run("with", "--nodes", 2, "--slots", 2, "--", "sh", "-c", script, LAB, input="and input\n")
    assert done.returncode == 6
    assert sorted(done.stdout.splitlines()) == ["and input", "node00", "node00", "node01", "node01", "node01"]
    assert os.listdir(os.path.dirname(lab.state)) == [] and lab.processes() == {}


def test_with_tells_when_the_command_does_not_exist(lab):
    done = lab.run("with", "--nodes", 1, "--", "/nonexistent/command")
    assert done.returncode == 127 and "/nonexistent/command" in done.stderr and done.stderr.count("\n") == 1
    assert os.listdir(os.path.dirname(lab.state)) == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_with_that_is_killed_leaves_nothing(lab, number):
    running = lab.popen("with", "--nodes", "2", "--", "sleep", "86404")
    eventually(lambda: "sleep 86404" in lab.processes().values())
    running.send_signal(number)
    running.communicate(timeout=60)
    assert running.returncode in (-number, 128 + number)
    eventually(lambda: lab.processes() == {})
    eventually(lambda: os.listdir(os.path.dirname(lab.state)) == [])


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize("moment", range(4))
def test_with_that_is_killed_early_leaves_nothing(lab, number, moment):
    """At several moments of its start. A directory may be left if there was no hub yet; it goes when the next lab is made."""
    running = lab.popen("with", "--nodes", "1", "--", "sleep", "86405")
    time.sleep(0.05 * moment)
    running.send_signal(number)
    running.communicate(timeout=60)
    assert running.returncode in (-number, 128 + number)
    eventually(lambda: lab.processes() == {})
    lab.ok("with", "--nodes", "1", "--", "true")
    assert os.listdir(os.path.dirname(lab.state)) == []


def test_with_that_is_killed_before_its_command_has_begun(lab, tmp_path):
    """Its command learns of its end only once it has asked for that: here it asks too late."""
    slow = tmp_path / "setpriv"
    slow.write_text('#!/bin/sh\n: >%s/begun\nwhile [ ! -e %s/go ]; do sleep 0.05; done\nexec %s "$@"\n'
                    % (tmp_path, tmp_path, shutil.which("setpriv")))
    slow.chmod(0o755)
    running = lab.popen("with", "--nodes", "1", "--", "sleep", "86406", env={"PATH": "%s:%s" % (tmp_path, os.environ["PATH"])})
    eventually((tmp_path / "begun").exists)
    running.kill()
    running.wait()
    (tmp_path / "go").touch()
    eventually(lambda: lab.processes() == {})
    running.communicate(timeout=60)


def test_with_outlasts_no_command_that_ignores_sigterm(lab):
    running = lab.popen("with", "--nodes", "1", "--", "sh", "-c", "trap '' TERM; echo ready; while :; do sleep 1; done")
    assert running.stdout.readline() == "ready\n"
    running.terminate()
    running.communicate()
    assert running.returncode == 128 + signal.SIGKILL
    eventually(lambda: lab.processes() == {})


def test_without_root(lab):
    """As user 65534 in a user namespace; the kernel may forbid it."""
    if os.getuid() != 0:
        pytest.skip("not root: every other test here is this test")
    home = os.path.dirname(lab.state)
    shutil.copytree(os.path.dirname(LAB), os.path.join(home, "copy"))
    os.chown(home, 65534, 65534)
    user = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", os.path.join(home, "copy", "lab")]

    def run(*args):
        return subprocess.run(user + list(args), cwd=home, env=lab.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, universal_newlines=True)

    possible = run("check")
    if possible.returncode == 77:
        pytest.skip(possible.stdout.strip())
    done = run("with", "--nodes", "2", "--slots", "2", "--", "sh", "-c",
               '"$0" mpirun -n 4 sh -c "hostname; sleep 0.5"; "$0" exec 0 tc class show dev eth0', os.path.join(home, "copy", "lab"))
    assert done.returncode == 0, done.stderr
    assert sorted(re.findall(r"^node0\d$", done.stdout, re.MULTILINE)) == ["node00", "node00", "node01", "node01"]
    assert "rate 1Gbit" in done.stdout
    shutil.rmtree(os.path.join(home, "copy"))
    os.chown(home, 0, 0)
