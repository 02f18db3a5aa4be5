// A Copydesk server for tests, and people who talk to it.
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { io } from 'socket.io-client';

const TOKEN = 'a-token-only-these-tests-know';

/** Starts a server whose model plays `script`; `flags` are more of its options. */
export async function serve(script, ...flags) {
  const data = await mkdtemp(join(tmpdir(), 'copydesk-'));
  const options = ['--listen', '127.0.0.1:0', '--data', data, '--token', TOKEN, '--model', `script:${script}`, ...flags];
  const server = spawn(process.env.COPYDESK ?? 'copydesk', options, { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => server.once('exit', resolve));
  const refused = Promise.race([
    ended.then((code) => { throw new Error(`the server ended with ${code}`); }),
    new Promise((_, reject) => server.once('error', reject)),
  ]);
  refused.catch(() => {});
  const lines = createInterface({ input: server.stdout })[Symbol.asyncIterator]();
  const { value } = await Promise.race([lines.next(), refused]);
  const people = [];
  return {
    url: value.replace('copydesk listening on ', ''),
    async person(name) {
      const person = await Person.connect(this.url, name);
      people.push(person);
      return person;
    },
    async stop() {
      for (const person of people) person.socket.close();
      server.kill('SIGTERM');
      await ended;
      await rm(data, { recursive: true, force: true });
    },
  };
}

/** Someone connected: what they hear is kept in order until a test asks for it. */
class Person {
  #heard = [];
  #waiting = [];

  static async connect(url, name) {
    const person = new Person();
    person.socket = io(url, { auth: { token: TOKEN, name }, forceNew: true });
    person.socket.onAny((event, payload) => {
      person.#heard.push({ event, payload });
      for (const look of person.#waiting.splice(0)) look();
    });
    person.session = (await person.hears('sessionRegistered')).sessionId;
    return person;
  }

  /** The next event of this name that no one has taken yet. */
  async hears(event) {
    const until = Date.now() + 20_000;
    for (;;) {
      const at = this.#heard.findIndex((it) => it.event === event);
      if (at >= 0) return this.#heard.splice(at, 1)[0].payload;
      const left = until - Date.now();
      if (left <= 0) throw new Error(`${event} was never heard; waiting: ${this.#heard.map((it) => it.event)}`);
      await new Promise((resolve) => {
        const timer = setTimeout(resolve, left);
        this.#waiting.push(() => { clearTimeout(timer); resolve(); });
      });
    }
  }

  /** Sends an event; what the server acknowledges. */
  asks(event, payload) {
    return this.socket.timeout(20_000).emitWithAck(event, payload);
  }

  /** A new document, opened; its id. */
  async opens(text) {
    const { document } = await this.asks('document:create', { title: 'Test', text });
    await this.asks('document:open', { documentId: document.id });
    return document.id;
  }

  /** Asks the model about a document. */
  prompts(documentId, prompt) {
    return this.asks('askClaudeCode', { sessionId: this.session, prompt, context: { documentId } });
  }

  /** What a document reads now. */
  async reads(documentId) {
    return (await this.asks('document:open', { documentId })).document.text;
  }
}
