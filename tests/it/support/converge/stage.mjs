// Where a session takes place: the document, its editors and their lines, how they come and go, and
// how it must end.
import { createHash } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { Dice } from "./dice.mjs";
import { Editor } from "./editor.mjs";
import { Ledger, must } from "./ledger.mjs";
import { Line, late, standstill } from "./line.mjs";
import { Mirror } from "./mirror.mjs";

/**
 * How a line ends that neither side ended, as when the machine stands still for as long as a
 * heartbeat takes.
 */
const BY_NOBODY = ["ping timeout", "transport close", "transport error"];

const sha256 = (text) => createHash("sha256").update(text).digest("hex");

export class Stage {
  /**
   * `desk` has `url`, `tokens`, `proposals` and, if it can be killed, `cut()`; `kind` says whether
   * things race.
   */
  constructor({ seed, desk, kind, stock = false }) {
    this.seed = seed;
    this.desk = desk;
    this.stock = stock;
    this.kind = kind;
    this.dice = new Dice(seed);
    this.editors = [];
    this.trace = [];
    this.underway = new Set();
    this.requests = 0;
    /** Runs that were asked for, and those of which came a proposal or the end. */
    this.asked = [];
    this.runs = new Set();
    /** Changes whose decision was acknowledged, and which: `accept` or `reject`. */
    this.decided = new Map();
    this.count = { updates: 0, pushes: 0, resent: 0, lost: 0, resyncs: 0, proposals: 0, decisions: 0, undone: 0, cuts: 0, parted: 0, cutOff: 0 };
    this.failure = new Promise((_, fail) => (this.fail = fail));
    this.failure.catch(() => undefined);
  }

  /** Plays what the seed says, or `tale`. */
  async run(tale = (session) => session.play()) {
    try {
      await Promise.race([tale(this), this.failure]);
    } finally {
      for (const { line } of this.editors) line?.close();
      this.observer?.close();
    }
    return this.count;
  }

  async begin({ text, people }) {
    this.ledger = new Ledger(text);
    this.observer = await this.observe();
    const created = await this.observer.call("document:create", { title: `Session ${this.seed}`, text });
    this.documentId = this.observer.documentId = created.document.id;
    await this.observer.join();
    for (let at = 0; at < people; at++) await this.arrive();
  }

  async connect({ token = this.desk.tokens[0], sessionId } = {}) {
    const { documentId, fail, runs } = this, polling = this.dice.chance(0.1);
    for (;;) {
      const line = await Line.connect({ desk: this.desk, token, sessionId, documentId, polling, runs, failed: fail });
      if (line.user) return line;
      this.cutOff("somebody who came", await line.lost);
    }
  }

  /**
   * Whoever loses a line that the server did not end comes again, as every client does. How often
   * that may be, the caller says.
   */
  cutOff(who, { reason }) {
    must(BY_NOBODY.includes(reason), `${who} was cut off: ${reason}`);
    this.count.cutOff++;
    this.log(`${who} was cut off: ${reason}; ${standstill()}`);
  }

  log(what) {
    this.trace.push(what);
  }

  /** A new editor instance on a fresh copy. */
  async arrive() {
    const token = this.dice.pick(this.desk.tokens), line = await this.connect({ token });
    const early = [], mirror = new Mirror();
    line.ear = { hear: (...update) => early.push(update), mirror };
    const opened = await line.join();
    if (opened.lost) {
      this.cutOff("somebody who came", opened);
      return this.arrive();
    }
    await this.knows(opened.document.version);
    const name = `editor ${this.editors.length} (${opened.clientID})`;
    const editor = new Editor({ name, ledger: this.ledger, opened, mirror, stock: this.stock });
    Object.assign(editor, { line, token, sessionId: line.sessionId, mayBeBehind: this.desk.isSeveral });
    early.forEach((update) => editor.hear(...update));
    line.ear = this.ear(editor, line);
    this.editors.push(editor);
    this.log(`${name} opens version ${opened.document.version}`);
  }

  /** Waits until the observer has been told of a version. */
  async knows(version) {
    await this.until(() => this.ledger.version >= version, `version ${version} at the observer`);
  }

  async until(holds, what) {
    let over = false;
    const waiting = async () => { while (!over && !holds()) await pause(1); };
    await late(waiting(), what).finally(() => (over = true));
  }

  async hearsAll(editor) {
    const { version } = this.ledger;
    await this.until(() => editor.heard >= version, `version ${version} at ${editor.name}`);
  }

  async runsAreHeard() {
    await this.until(() => this.asked.every((run) => this.runs.has(run)), "the model's proposals");
  }

  async newLine(editor) {
    const line = await this.connect(editor);
    line.ear = this.ear(editor, line);
    return line;
  }

  /** What is heard on a line that was left behind is only written down. */
  ear(editor, line) {
    const { ledger } = this;
    return {
      hear: (...update) => (editor.line === line ? editor.hear(...update) : ledger.learn(...update)),
      get mirror() {
        return editor.line === line ? editor.mirror : undefined;
      },
    };
  }

  /** A line on which nobody types. */
  async watch(token) {
    const line = await this.connect({ token });
    line.ear = { hear: (...update) => this.ledger.learn(...update) };
    return line;
  }

  /** The line on which everything is heard that is told. */
  observe() {
    return this.watch();
  }

  /** Connects again, if need be. */
  async comeBack(editor) {
    if (editor.line) return;
    editor.line = await this.newLine(editor);
    await this.catchUp(editor);
  }

  /** Asks for what it missed: from what it heard last, or only from what it has applied. */
  async catchUp(editor) {
    this.count.resyncs++;
    const since = this.dice.chance(0.5) ? editor.heard : editor.version;
    const event = this.dice.pick(["document:open", "document:resync"]);
    const answer = await editor.line.join(since, event);
    if (answer.lost) {
      this.cutOff(editor.name, answer);
      editor.line = await this.newLine(editor);
      return this.catchUp(editor);
    }
    this.log(`${editor.name} catches up from ${since}: ${JSON.stringify(answer.updates?.length)}`);
  }

  /** Everybody comes back, sends what is left and hears everything. */
  async drain() {
    await late(Promise.all(this.underway), "the last answers");
    await this.runsAreHeard();
    this.underway.clear();
    for (const editor of this.editors) {
      await this.comeBack(editor);
      for (let tries = 0; ; tries++) {
        editor.outbox = [];
        editor.send();
        const push = editor.outbox.shift();
        if (!push || (await editor.deliver(this.documentId, push)) !== undefined) break;
        must(editor.isBehind && tries < 3, `${editor.name} lost its line at the end`);
      }
    }
    const { version } = (await this.observer.join(undefined)).document;
    await this.knows(version);
    for (const editor of this.editors) {
      await this.hearsAll(editor);
      editor.pull(editor.inbox.length);
    }
  }

  /** What was decided and acknowledged stays decided. */
  keeps(requests) {
    const open = new Map(requests.flatMap(({ hunks }) => hunks).map(({ id, status }) => [id, status]));
    for (const [id, what] of this.decided) {
      const status = open.get(id);
      must(status === undefined || status === `${what}ed`, () => `${id} was ${what}ed, now it is ${status}`);
    }
  }

  async check() {
    const { ledger } = this;
    const fresh = await this.watch();
    const { document, requests } = await fresh.join();
    const text = ledger.doc.toString();
    for (const editor of this.editors) {
      must(editor.version === ledger.version, `${editor.name} is at ${editor.version}, the server at ${ledger.version}`);
      must(editor.unconfirmed === 0, `${editor.name}: ${editor.unconfirmed} updates were never confirmed`);
      must(editor.state.doc.toString() === text, () => `${editor.name} has ${JSON.stringify(editor.state.doc.toString())}, the log says ${JSON.stringify(text)}`);
      if (!this.stock) must(String(editor.names) === String(ledger.names.at(-1)), `${editor.name} has the same text made of other units`);
      must(document.hash === sha256(editor.state.doc.toString()), `${editor.name} has another hash`);
    }
    must(document.text === text && document.version === ledger.version, "the server has another text than its log");
    if (!this.stock) ledger.settle();
    this.keeps(requests);
    for (const { hunks } of requests) {
      for (const part of hunks.filter(({ status }) => status === "pending").flatMap(({ parts }) => parts)) {
        must(text.slice(part.from, part.to) === part.base, () => `a pending change stands on other words: ${JSON.stringify(part)}`);
      }
    }
    for (const editor of this.editors) {
      // An answer is a barrier: what was told before it has come.
      await editor.line.call("settings:get", {});
      if (!this.unsure) editor.mirror.agrees(requests);
    }
    fresh.close();
    this.count.updates = ledger.version;
  }
}
