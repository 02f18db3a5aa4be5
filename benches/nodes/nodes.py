#!/usr/bin/env python3
"""Measures several servers on one database with `copydesk bench`, and writes the tables of docs/scaling.md.

    cargo build --release
    python3 benches/nodes/nodes.py target/release/copydesk postgres://postgres@127.0.0.1:5432/postgres [redis://127.0.0.1:6379]

The user of the database must be allowed to create databases. If PostgreSQL is on this machine, its processor time is in the table. Needs
`psql`, and no packages of Python.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import uuid

SECONDS = "10"
TOKEN = "cdk_bench_of_several_servers"
#: Documents, with two who write in each; keystrokes of each in a second.
LOADS = [(1, "2"), (10, "4"), (100, "2"), (500, "0.4")]
HEAD = """\
| servers | documents | keystrokes a second | acknowledged, p50 / p95 ms | everybody has it, p50 / p95 ms | processor ms for a keystroke: servers | PostgreSQL | lost |
|---|--:|--:|--:|--:|--:|--:|--:|"""


def psql(url, statement):
    done = subprocess.run(["psql", "-XAtq", url, "-c", statement], check=True, capture_output=True, text=True)
    return done.stdout.strip()


def postgres_seconds():
    """Processor time of all PostgreSQL processes of this machine, those that have ended included."""
    ticks = 0
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            name, rest = re.match(r"\d+ \((.*)\) (.*)", (folder / "stat").read_text(), re.S).groups()
        except (OSError, AttributeError):
            continue
        if name == "postgres":
            fields = rest.split()
            # Children that have ended are counted by the process that started them.
            ticks += sum(int(field) for field in fields[11:15])
    return ticks / os.sysconf("SC_CLK_TCK")


IDLE_HEAD = """\
| servers that do nothing | PostgreSQL, processor ms in a second | of each server | connections |
|--:|--:|--:|--:|"""
#: Numbers of servers that only give signs of life and look at each other.
IDLE = [2, 5, 10, 20]


class Server:
    """A server on a free port, with the options that are given."""

    def __init__(self, program, folder, *options):
        command = [program, "--listen", "127.0.0.1:0", "--model", "harper", "--token", TOKEN, "--data", folder, *options]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.url = self.process.stdout.readline().split()[-1]

    def stop(self):
        self.process.terminate()
        self.process.wait()


def measure(program, label, servers, load):
    documents, edits = load
    urls = ",".join(server.url for server in servers)
    processes = ",".join(str(server.process.pid) for server in servers)
    command = [program, "bench", "--json", "--seconds", SECONDS, "--documents", str(documents), "--writers", "2", "--readers", "0",
               "--reviewers", "0", "--edits", edits, "--text", "2000", "--url", urls, "--token", TOKEN, "--server-process", processes]
    before = postgres_seconds()
    done = subprocess.run(command, capture_output=True, text=True)
    used = postgres_seconds() - before
    if not done.stdout:
        print(f"{label}, {documents} documents: {done.stderr.strip()}", file=sys.stderr)
        return
    report = json.loads(done.stdout)
    times = report["times"]
    both = lambda name: f"{times[name]['p50Ms']:.1f} / {times[name]['p95Ms']:.1f}"
    # Setting up and taking down the documents is in it, so it is an upper limit.
    of_postgres = 1000 * used / (report["edits"]["perSecond"] * (int(SECONDS) + 1)) if "SQLite" not in label else 0
    cells = [label, documents, f"{report['edits']['perSecond']:,.0f}", both("keystrokeToAcknowledgement"), both("keystrokeToEveryone"),
             f"{report['server']['cpuMsPerEdit']:.3f}", f"{of_postgres:.2f}", report["edits"]["lost"]]
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def idle(program, database, count):
    """What servers on one database cost while no one is there."""
    name = f"copydesk_bench_{uuid.uuid4().hex}"
    psql(database, f"CREATE DATABASE {name} TEMPLATE template0")
    url = database.rsplit("/", 1)[0] + "/" + name
    with tempfile.TemporaryDirectory() as folder:
        servers = [Server(program, f"{folder}/{number}", "--database-url", url, "--cluster") for number in range(count)]
        own = lambda: sum(sum(map(int, pathlib.Path(f"/proc/{it.process.pid}/stat").read_text().rsplit(")")[1].split()[11:13])) for it in servers)
        try:
            time.sleep(3)
            before, ours = postgres_seconds(), own()
            time.sleep(float(SECONDS))
            used, of_servers = postgres_seconds() - before, (own() - ours) / os.sysconf("SC_CLK_TCK")
            connections = psql(database, f"SELECT count(*) FROM pg_stat_activity WHERE datname = '{name}'")
            per_second = [1000 * it / float(SECONDS) for it in (used, of_servers / count)]
            print(f"| {count} | {per_second[0]:.1f} | {per_second[1]:.1f} | {connections} |", flush=True)
        finally:
            for server in servers:
                server.stop()
    psql(database, f"DROP DATABASE {name} WITH (FORCE)")


def main(program, database, redis=None):
    one, two = ["--cluster"], ["--cluster"]
    kinds = [("1, SQLite", 1, None), ("1, PostgreSQL", 1, []), ("1 of `--cluster`", 1, one), ("2", 2, two)]
    if redis:
        kinds.append(("2, Redis", 2, ["--cluster", "--redis-url", redis]))
    print(IDLE_HEAD)
    for count in IDLE:
        idle(program, database, count)
    print("\n" + HEAD)
    for load in LOADS:
        for label, count, options in kinds:
            name = f"copydesk_bench_{uuid.uuid4().hex}"
            with tempfile.TemporaryDirectory() as folder:
                more = []
                if options is not None:
                    psql(database, f"CREATE DATABASE {name} TEMPLATE template0")
                    more = ["--database-url", database.rsplit("/", 1)[0] + "/" + name, *options]
                servers = [Server(program, f"{folder}/{number}", *more) for number in range(count)]
                try:
                    measure(program, label, servers, load)
                finally:
                    for server in servers:
                        server.stop()
                    if options is not None:
                        psql(database, f"DROP DATABASE {name} WITH (FORCE)")


if __name__ == "__main__":
    main(*sys.argv[1:])
