#!/usr/bin/env python3
"""Installs each artefact of a release as a newcomer would, and accepts a first change.

    packaging/try.py FOLDER [NAME...]

FOLDER holds what packaging/release.sh has made. NAME is one of those in ARTEFACTS. Each is
installed in a place of its own. Prints a table: the artefact, its size, and the seconds from
its download to the printed link and to the first accepted change. The Debian package needs
root: it is installed in a copy of this system that is thrown away.
"""

import contextlib
import functools
import http.server
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

# Longest time from the download to the link.
MOST_SECONDS_TO_LINK = 10
WRONG = "He could of slept untill noon.\n"
RIGHT = "He could have slept until noon."


class Trial:
    """A server that runs, and the commands of the same program as its client."""

    def __init__(self, began, command, client, env=None):
        """`command` starts the server, `client` begins the words of each client command."""
        self.began = began
        self.client = client
        own = {"COPYDESK_LISTEN": "127.0.0.1:0", "COPYDESK_MODEL": "harper", "COPYDESK_LOG": "warn"}
        self.env = os.environ | own | (env or {})
        self.server = subprocess.Popen(command, env=self.env, stdout=subprocess.PIPE, text=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.terminate()
        try:
            self.server.wait(20)
        finally:
            self.server.kill()

    def runs(self, *words):
        """Runs a client command and returns its output."""
        done = subprocess.run(
            [*self.client, *words], env=self.env, stdout=subprocess.PIPE, text=True
        )
        if done.returncode != 0:
            raise SystemExit(f"{shlex.join(words)} ended with {done.returncode}: {done.stdout}")
        return done.stdout

    def accepts_a_change(self, folder, seen_as=None):
        """Returns the seconds to the link and to the first accepted change.

        `folder` is one to write in, and `seen_as` its name for the program, if that is another.
        """
        link = next((line for line in self.server.stdout if line.startswith("open ")), None)
        if link is None:
            raise SystemExit(f"the server ended with {self.server.wait()} before it printed a link")
        to_link = time.monotonic() - self.began
        url, token = link.removeprefix("open ").strip().split("/#token=")
        self.env |= {"COPYDESK_URL": url, "COPYDESK_TOKEN": token}
        if "without its editor" in first_page(url):
            raise SystemExit("the program carries no editor")

        (folder / "note.md").write_text(WRONG)
        document = self.runs("import", "--title", "A note", f"{seen_as or folder}/note.md").strip()
        asked = subprocess.Popen(
            [*self.client, "ask", document, "Fix the grammar", "--wait", "--timeout", "300"],
            env=self.env,
            stdout=subprocess.PIPE,
            text=True,
        )
        request = next(filter(None, (re.match(r"req_\S+", line) for line in asked.stdout)))
        self.runs("approve", request.group())
        to_change = time.monotonic() - self.began
        asked.communicate()
        text = self.runs("export", "--document", document, "--format", "md")
        if RIGHT not in text:
            raise SystemExit(f"the accepted change is not in the document: {text}")
        return to_link, to_change


def first_page(url):
    """The first page of a server, without a proxy that the environment may name."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(url, timeout=10) as answer:
        return answer.read().decode()


def only(folder, pattern):
    """The one file of a pattern."""
    found = sorted(folder.glob(pattern))
    if len(found) != 1:
        raise SystemExit(f"{folder} has {len(found)} files {pattern}")
    return found[0]


def quietly(*command, **options):
    """Runs a command whose output is only shown if it fails."""
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options
    )
    if done.returncode != 0:
        raise SystemExit(
            f"{shlex.join(map(str, command))} ended with {done.returncode}:\n{done.stdout}"
        )
    return done.stdout


def starts(began, program, work):
    """A trial of a program that stands in a folder."""
    data = work / "data"
    return Trial(began, [program, "serve", "--data", data], [program])


def program_archive(packages):
    """The archive with the program."""
    archives = [
        it for it in packages.glob("copydesk-*.tar.gz") if not it.name.endswith("-source.tar.gz")
    ]
    if len(archives) != 1:
        raise SystemExit(f"{packages} has {len(archives)} archives with a program")
    return archives[0]


def try_archive(packages, work):
    """tar.gz: unpacked."""
    archive = program_archive(packages)
    began = time.monotonic()
    quietly("tar", "-xzf", archive, "-C", work)
    tree = work / archive.name.removesuffix(".tar.gz")
    for file in ["LICENSE", "man/copydesk.1", "completions/copydesk.bash", "completions/_copydesk"]:
        assert (tree / file).stat().st_size > 0, file
    with starts(began, tree / "copydesk", work) as trial:
        return archive, trial.accepts_a_change(work)


def try_wheel(packages, work):
    """Wheel: installed in a new virtual environment, without an index."""
    wheel = only(packages, "copydesk-*.whl")
    quietly(sys.executable, "-m", "venv", work / "venv")
    began = time.monotonic()
    quietly(work / "venv/bin/pip", "install", "--quiet", "--no-index", wheel)
    with starts(began, work / "venv/bin/copydesk", work) as trial:
        return wheel, trial.accepts_a_change(work)


def try_npm(packages, work):
    """npm: both packages installed in a new prefix, without a registry."""
    for_platform = only(packages, "copydesk-linux-*.tgz")
    main = only(packages, "copydesk-[0-9]*.tgz")
    prefix = work / "prefix"
    prefix.mkdir()
    began = time.monotonic()
    quietly(
        "npm",
        "install",
        "--offline",
        "--no-audit",
        "--no-fund",
        "--cache",
        work / "cache",
        "--prefix",
        prefix,
        for_platform,
        main,
    )
    with starts(began, prefix / "node_modules/.bin/copydesk", work) as trial:
        return for_platform, trial.accepts_a_change(work)


@contextlib.contextmanager
def served(folder):
    """The address of a server with the files of a folder."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    handler = functools.partial(Quiet, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def files_below(*folders):
    """All files below folders."""
    return sorted(str(it) for folder in folders for it in folder.rglob("*") if it.is_file())


def try_install_script(packages, work):
    """install.sh: with files from a server of this machine. Another archive is refused."""
    script = packages / "install.sh"
    home, prefix, temporary, changed = (work / it for it in ["home", "prefix", "tmp", "changed"])
    for folder in [home, temporary, changed]:
        folder.mkdir()
    env = dict(os.environ, HOME=home, TMPDIR=temporary, no_proxy="127.0.0.1")

    shutil.copy(packages / "SHA256SUMS", changed)
    (changed / program_archive(packages).name).write_bytes(b"another archive")
    with served(changed) as address:
        refused = subprocess.run(
            ["sh", script, "--prefix", prefix],
            env=env | {"COPYDESK_DOWNLOADS": address},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
    assert refused.returncode == 1 and "nothing was installed" in refused.stdout, refused.stdout
    assert files_below(home, temporary) == [] and not prefix.exists(), "install.sh wrote something"

    began = time.monotonic()
    with served(packages) as address:
        said = quietly("sh", script, "--prefix", prefix, env=env | {"COPYDESK_DOWNLOADS": address})
    with starts(began, prefix / "bin/copydesk", work) as trial:
        times = trial.accepts_a_change(work)
    named = sorted(line.strip() for line in said.splitlines() if line.startswith(f"  {prefix}/"))
    assert named == files_below(prefix, home, temporary), said
    quietly("sh", script, "--uninstall", "--prefix", prefix, env=env)
    assert files_below(prefix, home, temporary) == [], "--uninstall left something"
    return script, times


@contextlib.contextmanager
def thrown_away_system(work):
    """The root of a copy of this system, which is on a file system in memory."""
    quietly("mount", "-t", "tmpfs", "tmpfs", work)
    upper, inner, root = (work / it for it in ["upper", "inner", "root"])
    try:
        for folder in [upper, inner, root]:
            folder.mkdir()
        quietly(
            "mount",
            "-t",
            "overlay",
            "overlay",
            "-o",
            f"lowerdir=/,upperdir={upper},workdir={inner}",
            root,
        )
        for folder in ["proc", "dev"]:
            quietly("mount", "--rbind", f"/{folder}", root / folder)
        yield root
    finally:
        quietly("umount", "--recursive", "--lazy", work)


def unit_of(root):
    """The environment and the command of the unit in a root, with what its drop-in changes."""
    system = root / "usr/lib/systemd/system"
    text = "".join(
        it.read_text()
        for it in [system / "copydesk.service", system / "copydesk.service.d/debian.conf"]
    )
    env = dict(re.findall(r"^Environment=(\w+)=(.*)$", text, re.MULTILINE))
    return env, shlex.split(re.findall(r"^ExecStart=(.+)$", text, re.MULTILINE)[-1])


def try_debian_package(packages, work):
    """Debian package: installed, started as its unit says, upgraded, removed and purged."""
    package = only(packages, "copydesk_*.deb")
    with thrown_away_system(work) as root:
        inside = ["chroot", root]
        shutil.copy(package, root / "tmp/copydesk.deb")
        began = time.monotonic()
        quietly(*inside, "dpkg", "--install", "/tmp/copydesk.deb")
        env, command = unit_of(root)
        # systemd makes the folder of StateDirectory=.
        quietly(
            *inside,
            "install",
            "-d",
            "-o",
            "copydesk",
            "-g",
            "copydesk",
            "-m",
            "0700",
            env["COPYDESK_DATA"],
        )
        person = [
            "setpriv",
            "--reuid=copydesk",
            "--regid=copydesk",
            "--init-groups",
            "--no-new-privs",
        ]
        with Trial(began, [*inside, *person, *command], [*inside, command[0]], env) as trial:
            times = trial.accepts_a_change(root / "tmp", "/tmp")
        config = root / "etc/copydesk/copydesk.toml"
        config.write_text("approval-timeout = 77\n")
        quietly(*inside, "dpkg", "--install", "/tmp/copydesk.deb")
        assert config.read_text() == "approval-timeout = 77\n", "an upgrade changed the options"
        quietly(*inside, "dpkg", "--remove", "copydesk")
        assert config.exists(), "removing the package removed the options"
        assert not (root / "usr/bin/copydesk").exists()
        quietly(*inside, "dpkg", "--purge", "copydesk")
        assert not config.parent.exists(), "the options stayed"
        assert (root / "var/lib/copydesk/copydesk.sqlite").exists(), "the documents went"
    return package, times


ARTEFACTS = {
    "archive": try_archive,
    "wheel": try_wheel,
    "npm": try_npm,
    "install.sh": try_install_script,
    "deb": try_debian_package,
}


def main():
    packages = pathlib.Path(sys.argv[1]).resolve()
    quietly("sha256sum", "--check", "--quiet", "SHA256SUMS", cwd=packages)
    rows, late = [], []
    for name in sys.argv[2:] or ARTEFACTS:
        with tempfile.TemporaryDirectory(prefix="copydesk-try-") as work:
            artefact, (to_link, to_change) = ARTEFACTS[name](packages, pathlib.Path(work))
        size = artefact.stat().st_size / 1e6
        rows.append(
            f"{name:<11} {artefact.name:<62} {size:>7.2f} {to_link:>8.1f} {to_change:>9.1f}"
        )
        if to_link > MOST_SECONDS_TO_LINK:
            late.append(f"{name}: {to_link:.1f} s to the link, not {MOST_SECONDS_TO_LINK}")
    print(f"{'':<11} {'artefact':<62} {'MB':>7} {'link, s':>8} {'change, s':>9}")
    print("\n".join(rows))
    if late:
        raise SystemExit("\n".join(late))


if __name__ == "__main__":
    main()
