"""A Copydesk server for tests, and people who talk to it."""

import collections
import os
import subprocess
import tempfile
import threading

import socketio

TOKEN = "a-token-only-these-tests-know"
TIMEOUT = 20


class Server:
    """A server whose model plays `script`; `flags` are more of its options."""

    def __init__(self, script, *flags):
        self.data = tempfile.TemporaryDirectory(prefix="copydesk-")
        command = [os.environ.get("COPYDESK", "copydesk"), "--listen", "127.0.0.1:0", "--data", self.data.name]
        command += ["--token", TOKEN, "--model", f"script:{script}", *flags]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
        line = self.process.stdout.readline()
        assert line.startswith("copydesk listening on "), line
        self.url = line.split()[-1]
        self.people = []

    def person(self, name):
        self.people.append(Person(self.url, name))
        return self.people[-1]

    def stop(self):
        for person in self.people:
            person.socket.disconnect()
        self.process.terminate()
        self.process.wait(TIMEOUT)
        self.process.stdout.close()
        self.data.cleanup()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


class Person:
    """Someone connected: what they hear is kept in order until a test asks for it."""

    def __init__(self, url, name):
        self.heard = collections.deque()
        self.news = threading.Condition()
        self.socket = socketio.Client(reconnection=False)
        self.socket.on("*", self._hear)
        self.socket.connect(url, auth={"token": TOKEN, "name": name}, wait_timeout=TIMEOUT)
        self.session = self.hears("sessionRegistered")["sessionId"]

    def _hear(self, event, payload=None):
        with self.news:
            self.heard.append((event, payload))
            self.news.notify_all()

    def hears(self, event):
        """The next event of this name that no one has taken yet."""

        def waiting():
            return next((it for it in self.heard if it[0] == event), None)

        with self.news:
            found = self.news.wait_for(waiting, TIMEOUT)
            assert found, f"{event} was never heard; waiting: {[name for name, _ in self.heard]}"
            self.heard.remove(found)
            return found[1]

    def asks(self, event, payload):
        """Sends an event; what the server acknowledges."""
        return self.socket.call(event, payload, timeout=TIMEOUT)

    def opens(self, text):
        """A new document, opened; its id."""
        document = self.asks("document:create", {"title": "Test", "text": text})["document"]["id"]
        self.asks("document:open", {"documentId": document})
        return document

    def prompts(self, document, prompt):
        """Asks the model about a document."""
        context = {"documentId": document}
        return self.asks("askClaudeCode", {"sessionId": self.session, "prompt": prompt, "context": context})

    def reads(self, document):
        """What a document reads now."""
        return self.asks("document:open", {"documentId": document})["document"]["text"]
