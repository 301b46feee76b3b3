# SPDX-License-Identifier: BSD-3-Clause
"""Measures everything in bench/wire: writes wire.md (tables), the raw CSV and the figures into $LUCID_RESULTS."""
import argparse
import csv
import os
import shutil
import subprocess
import sys

import wire

APPLICATIONS = {
    "LAMMPS": ("lmp", ["-in", os.path.join(wire.ROOT, "examples", "in.lj"), "-log", "none"]),
    "HPCC": ("hpcc", []),
}


def percent(fraction):
    return "%+.2f %%" % (100 * fraction)


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]) + "\n"


def comparison_row(name, one):
    return [name, one.messages, one.monitored, one.nic_bytes, one.nic_packets, percent(one.raw), percent(one.net),
            "%.0f" % one.per_message]


HEAD = ["", "messages", "bytes, Lucid", "bytes, cards", "frames", "Lucid - cards", "the same without frame headers",
        "MPI's own, bytes per message"]


def measure_pair(results, messages, pause, seed):
    rows = os.path.join(results, "pair.csv")
    with wire.Cluster(nodes=2, slots=1, home=results) as cluster:
        totals = wire.pair(cluster, os.path.join(results, "wire_pair"), rows, messages=messages, pause=pause, seed=seed)
    one = wire.pair_comparison(totals)
    data = read_rows(rows)
    draw_pair(data, results)
    return ("## Random messages (figures 2 and 3 of the paper)\n\n" + table(HEAD, [comparison_row("2 ranks, 2 nodes", one)]) +
            "\nThe program sent %d bytes. The sum of all readings of the suspended, reset and continued session: %d; a second "
            "session over the whole run: %d. Of %d readings, one every 10 ms, none found the two cumulative curves more than %.0f kB "
            "apart.\n" % (totals["sent_bytes"], totals["sampled_bytes"], totals["session_bytes"], len(data), farthest(data)))


def read_rows(path):
    with open(path, encoding="utf-8") as stream:
        return [{key: float(value) for key, value in row.items()} for row in csv.DictReader(stream)]


def farthest(data):
    """The largest distance of the two cumulative curves, in kB."""
    distance, largest = 0.0, 0.0
    for row in data:
        distance += row["session_bytes"] - row["nic_bytes"]
        largest = max(largest, abs(distance))
    return largest / 1e3


def draw_pair(data, results):
    """The series and the sums as figures; says so where matplotlib is not installed."""
    try:
        import matplotlib
    except ImportError:
        print("wire: no figures: matplotlib is not installed", file=sys.stderr)
        return
    matplotlib.use("Agg")
    from matplotlib import pyplot
    time = [row["seconds"] for row in data]
    card = [row["nic_bytes"] / 1e3 for row in data]
    session = [row["session_bytes"] / 1e3 for row in data]
    figure, axes = pyplot.subplots(2, 1, sharex=True, sharey=True, figsize=(8, 4.5))
    for axis, values, name, colour in ((axes[0], card, "network card", "tab:orange"), (axes[1], session, "Lucid session", "tab:blue")):
        axis.vlines(time, 0, values, color=colour, linewidth=0.8)
        axis.set_title(name, loc="left", fontsize=10)
        axis.set_ylabel("kB per reading")
    axes[1].set_xlabel("seconds")
    save(figure, results, "series")
    figure, axis = pyplot.subplots(figsize=(8, 4.5))
    for values, name, style in ((card, "network card", {"color": "tab:orange", "linewidth": 3}),
                                (session, "Lucid session", {"color": "tab:blue", "linewidth": 1.2})):
        axis.step(time, cumulated(values), where="post", label=name, **style)
    axis.set_xlabel("seconds")
    axis.set_ylabel("MB since the start")
    axis.legend()
    save(figure, results, "cumulative")


def cumulated(kilobytes):
    total, sums = 0.0, []
    for value in kilobytes:
        total += value / 1e3
        sums.append(total)
    return sums


def save(figure, results, name):
    figure.tight_layout()
    figure.savefig(os.path.join(results, name + ".svg"))
    figure.savefig(os.path.join(results, name + ".png"), dpi=150)


def measure_patterns(results):
    with wire.Cluster(home=results) as cluster:
        found = wire.patterns(cluster, os.path.join(results, "wire_patterns"))
    rows = [comparison_row(name, sum(nodes[1:], nodes[0])) for name, nodes in found.items()]
    return "## Patterns, 16 ranks on 4 nodes (sums over the nodes)\n\n" + table(HEAD, rows)


def measure_applications(results):
    lucid = [os.path.join(os.environ["LUCID_BUILD_DIR"], "bin", "lucid")]
    rows = []
    for name, (program, arguments) in APPLICATIONS.items():
        if not shutil.which(program):
            print("wire: %s is not installed: left out" % program, file=sys.stderr)
            continue
        folder = os.path.join(results, name.lower())
        os.makedirs(folder, exist_ok=True)
        shutil.copy(os.path.join(wire.ROOT, "examples", "hpccinf.txt"), folder)
        with wire.Cluster(home=results) as cluster:
            one, _ = wire.application(cluster, lucid, 16, [program, *arguments], os.path.join(folder, "report"), cwd=folder)
        rows.append(comparison_row(name, one))
    return ("## Programs nobody here wrote, under `lucid run`, 16 ranks on 4 nodes\n\n" + table(HEAD, rows) +
            "\nThe cards' figures are those of the whole job: launch, MPI_Init and the report are in them.\n")


PARTS = {"pair": measure_pair, "patterns": measure_patterns, "applications": measure_applications}


def machine():
    with open("/proc/cpuinfo", encoding="utf-8") as stream:
        models = {line.split(":")[1].strip() for line in stream if line.startswith("model name")}
    version = subprocess.run(["mpirun", "--version"], stdout=subprocess.PIPE, universal_newlines=True, check=False)
    return "Machine: %d CPUs (%s), Linux %s. %s. Lab: links of 1 Gbit/s, MTU 1500.\n" % (
        os.cpu_count(), ", ".join(sorted(models)) or os.uname().machine, os.uname().release,
        version.stdout.splitlines()[0] if version.stdout else "no mpirun")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help="pair, patterns, applications (default: all)")
    parser.add_argument("--quick", action="store_true", help="40 messages with short pauses, and the patterns: half a minute")
    parser.add_argument("--messages", type=int, default=380, help="random messages to send (default 380: 20 s)")
    parser.add_argument("--pause", type=float, nargs=2, default=[5, 100], metavar=("MIN", "MAX"),
                        help="pauses in milliseconds (default 5 100, the paper's divided by ten)")
    parser.add_argument("--seed", type=int, default=1, help="of the random messages")
    options = parser.parse_args()
    unknown = sorted(set(options.parts) - set(PARTS))
    if unknown:
        parser.error("no such part: %s" % ", ".join(unknown))
    if options.quick:
        options.messages, options.pause = 40, [5, 20]
        options.parts = options.parts or ["pair", "patterns"]
    results = os.path.abspath(os.environ["LUCID_RESULTS"])
    sections = [machine()]
    for name in options.parts or PARTS:
        extra = (options.messages, options.pause, options.seed) if name == "pair" else ()
        sections.append(PARTS[name](results, *extra))
        print(sections[-1], flush=True)
    with open(os.path.join(results, "wire.md"), "w", encoding="utf-8") as stream:
        stream.write("\n".join(sections))


if __name__ == "__main__":
    main()
