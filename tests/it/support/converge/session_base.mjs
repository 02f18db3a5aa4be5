// The base of all sessions: a document, its editors and connections, how they connect and
// disconnect, and the final checks.
import { createHash } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { SeededRandom } from "./seeded_random.mjs";
import { SimulatedEditor } from "./simulated_editor.mjs";
import { ReferenceDocument, ensure } from "./reference_document.mjs";
import { Connection, withTimeout, describeStall } from "./connection.mjs";
import { EditorReplica } from "./editor_replica.mjs";

/**
 * Reasons of a disconnect that neither side asked for, as when the machine stalls for the time of a
 * heartbeat.
 */
const NETWORK_REASONS = ["ping timeout", "transport close", "transport error"];

const sha256 = (text) => createHash("sha256").update(text).digest("hex");

/** Connections of one session that are lost within this time of each other are lost together. */
const LOST_TOGETHER_MS = 10_000;

/** The editors, the observer and the reference model of one session. */
export class SessionBase {
  /**
   * `server` has `url`, `tokens`, `proposals` and, if faults can be injected, `injectFault()`;
   * `profile` says whether pushes are concurrent.
   */
  constructor({ seed, server, profile, allAtOnce = false }) {
    this.seed = seed;
    this.server = server;
    this.allAtOnce = allAtOnce;
    this.profile = profile;
    this.random = new SeededRandom(seed);
    this.editors = [];
    this.trace = [];
    this.inFlight = new Set();
    this.requests = 0;
    /** Runs that were started, and those with a proposal or an end. */
    this.runsRequested = [];
    this.runsWithEvents = new Set();
    /** Hunks whose decision was acknowledged, and the decision: `accept` or `reject`. */
    this.decided = new Map();
    this.lostAt_ms = 0;
    this.count = { updates: 0, pushes: 0, resent: 0, unansweredPushes: 0, resyncs: 0, proposals: 0, decisions: 0, undone: 0, faults: 0, disconnects: 0, lostConnections: 0 };
    this.failure = new Promise((_, fail) => (this.fail = fail));
    this.failure.catch(() => undefined);
  }

  /** Runs the steps of the seed, or a script. */
  async run(script = (session) => session.runSteps()) {
    try {
      await Promise.race([script(this), this.failure]);
    } finally {
      for (const { connection } of this.editors) connection?.close();
      this.observer?.close();
    }
    return this.count;
  }

  async begin({ text, people }) {
    this.reference = new ReferenceDocument(text);
    this.observer = await this.observe();
    const created = await this.observer.call("document:create", { title: `Session ${this.seed}`, text });
    this.documentId = this.observer.documentId = created.document.id;
    await this.joinAsObserver();
    for (let at = 0; at < people; at++) await this.addEditor();
  }

  async connect({ token = this.server.tokens[0], sessionId } = {}) {
    const { documentId, fail, runsWithEvents } = this, polling = this.random.chance(0.1);
    for (;;) {
      const connection = await Connection.connect({ server: this.server, token, sessionId, documentId, polling, runs: runsWithEvents, onFailure: fail });
      if (connection.user) return connection;
      this.recordLostConnection("a new connection", await connection.lost);
    }
  }

  /**
   * Records a connection that was lost without a request of either side. Clients reconnect then.
   * The caller limits how often that may happen.
   */
  recordLostConnection(who, { reason }) {
    ensure(NETWORK_REASONS.includes(reason), `${who} lost its connection: ${reason}`);
    // A stall of the machine ends all connections of a session at about the same time.
    if (Date.now() - this.lostAt_ms > LOST_TOGETHER_MS) this.count.lostConnections++;
    this.lostAt_ms = Date.now();
    this.log(`${who} lost its connection: ${reason}; ${describeStall()}`);
  }

  log(what) {
    this.trace.push(what);
  }

  /** Adds an editor with a fresh copy of the document. */
  async addEditor() {
    const token = this.random.pick(this.server.tokens);
    let early, replica;
    const { connection, reply: opened } = await this.openAndJoin(async () => {
      const connection = await this.connect({ token });
      early = [];
      replica = new EditorReplica();
      connection.listener = { onUpdate: (...update) => early.push(update), replica };
      return connection;
    });
    await this.waitForVersion(opened.document.version);
    const name = `editor ${this.editors.length} (${opened.clientID})`;
    const editor = new SimulatedEditor({ name, reference: this.reference, opened, replica, allAtOnce: this.allAtOnce });
    Object.assign(editor, { connection, token, sessionId: connection.sessionId, mayNeedUpdates: this.server.isSeveral });
    early.forEach((update) => editor.enqueue(...update));
    connection.listener = this.listenerFor(editor, connection);
    this.editors.push(editor);
    this.log(`${name} opens version ${opened.document.version}`);
  }

  /** Waits until the observer has received a version. */
  async waitForVersion(version) {
    await this.waitUntil(() => this.reference.version >= version, `version ${version} at the observer`);
  }

  /** Waits until something holds. An observer that lost its connection meanwhile gets another. */
  async waitUntil(holds, what) {
    while (!holds()) {
      const { observer } = this;
      let over = false;
      const waiting = async () => { while (!over && !observer.isLost && !holds()) await pause(1); };
      await withTimeout(waiting(), what).finally(() => (over = true));
      if (observer.isLost) await this.joinAsObserver();
    }
  }

  async waitForAllUpdates(editor) {
    const { version } = this.reference;
    const hasAll = () => editor.receivedVersion >= version;
    while (!hasAll()) {
      await this.waitUntil(() => hasAll() || editor.connection.isLost, `version ${version} at ${editor.name}`);
      await this.reconnect(editor);
    }
  }

  async waitForRuns() {
    await this.waitUntil(() => this.runsRequested.every((run) => this.runsWithEvents.has(run)), "the model's proposals");
  }

  async openConnection(editor) {
    const connection = await this.connect(editor);
    connection.listener = this.listenerFor(editor, connection);
    return connection;
  }

  /**
   * Returns the listener of a connection. Updates on a connection that was replaced are only
   * recorded.
   */
  listenerFor(editor, connection) {
    const { reference } = this;
    return {
      onUpdate: (...update) => (editor.connection === connection ? editor.enqueue(...update) : reference.recordUpdate(...update)),
      get replica() {
        return editor.connection === connection ? editor.replica : undefined;
      },
    };
  }

  /** Opens a connection without an editor. */
  async openObserver(token) {
    const connection = await this.connect({ token });
    connection.listener = { onUpdate: (...update) => this.reference.recordUpdate(...update) };
    return connection;
  }

  /** Opens a connection and joins the document on it; anew if the connection is lost meanwhile. */
  async openAndJoin(open, since, event) {
    for (;;) {
      const connection = await open(), reply = await connection.join(since, event);
      if (!reply.lost) return { connection, reply };
      this.recordLostConnection("a new connection", reply);
    }
  }

  /** Opens the connection that receives all events. */
  observe() {
    return this.openObserver();
  }

  /** Joins the document as the observer, on a new connection if the connection was lost. */
  async joinAsObserver() {
    const reply = await this.observer.join();
    if (!reply.lost) return reply;
    this.recordLostConnection("the observer", reply);
    return this.reopenObserver();
  }

  /** Opens another connection of the observer, which may have missed events, and joins. */
  async reopenObserver() {
    // A run without a proposal may make one at any time, or never.
    this.pendingMayDiffer ||= this.runsRequested.some((run) => !this.runsWithEvents.has(run));
    this.runsRequested = [];
    this.observer.close();
    const { connection, reply } = await this.openAndJoin(() => this.observe());
    this.observer = connection;
    const log = await this.openAndJoin(() => this.openObserver(), 0, "document:resync");
    log.connection.close();
    return reply;
  }

  /** Reconnects, if necessary. */
  async reconnect(editor) {
    if (editor.connection?.isLost) {
      this.recordLostConnection(editor.name, await editor.connection.lost);
      editor.disconnect(this.random);
    }
    if (editor.connection) return;
    editor.connection = await this.openConnection(editor);
    await this.catchUp(editor);
  }

  /** Requests missed updates: from the last received version, or only from the applied one. */
  async catchUp(editor) {
    this.count.resyncs++;
    const since = this.random.chance(0.5) ? editor.receivedVersion : editor.version;
    const event = this.random.pick(["document:open", "document:resync"]);
    const reply = await editor.connection.join(since, event);
    if (reply.lost) {
      this.recordLostConnection(editor.name, reply);
      editor.connection = await this.openConnection(editor);
      return this.catchUp(editor);
    }
    this.log(`${editor.name} catches up from ${since}: ${JSON.stringify(reply.updates?.length)}`);
  }

  /** Reconnects everybody, and sends and delivers everything that is left. */
  async drain() {
    await withTimeout(Promise.all(this.inFlight), "the last replies");
    await this.waitForRuns();
    this.inFlight.clear();
    for (const editor of this.editors) {
      await this.reconnect(editor);
      for (let tries = 0; ; tries++) {
        editor.outbox = [];
        editor.send();
        const push = editor.outbox.shift();
        if (!push || (await editor.deliver(this.documentId, push)) !== undefined) break;
        ensure(editor.needsMoreUpdates && tries < 3, `${editor.name} lost its connection at the end`);
      }
    }
    const { version } = (await this.joinAsObserver()).document;
    await this.waitForVersion(version);
    for (const editor of this.editors) {
      await this.waitForAllUpdates(editor);
      editor.applyReceived(editor.inbox.length);
    }
  }

  /** Checks that acknowledged decisions are unchanged. */
  checkDecisions(requests) {
    const open = new Map(requests.flatMap(({ hunks }) => hunks).map(({ id, status }) => [id, status]));
    for (const [id, what] of this.decided) {
      const status = open.get(id);
      ensure(status === undefined || status === `${what}ed`, () => `${id} was ${what}ed, now it is ${status}`);
    }
  }

  async check() {
    const { reference } = this;
    const { connection: fresh, reply: { document, requests } } = await this.openAndJoin(() => this.openObserver());
    const text = reference.doc.toString();
    for (const editor of this.editors) {
      ensure(editor.version === reference.version, `${editor.name} is at ${editor.version}, the server at ${reference.version}`);
      ensure(editor.unconfirmed === 0, `${editor.name}: ${editor.unconfirmed} updates were never confirmed`);
      ensure(editor.state.doc.toString() === text, () => `${editor.name} has ${JSON.stringify(editor.state.doc.toString())}, the log says ${JSON.stringify(text)}`);
      if (!this.allAtOnce) ensure(String(editor.units) === String(reference.unitsByVersion.at(-1)), `${editor.name} has the same text made of other units`);
      ensure(document.hash === sha256(editor.state.doc.toString()), `${editor.name} has another hash`);
    }
    ensure(document.text === text && document.version === reference.version, "the server has another text than its log");
    if (!this.allAtOnce) reference.checkAllCommitted();
    this.checkDecisions(requests);
    for (const { hunks } of requests) {
      for (const part of hunks.filter(({ status }) => status === "pending").flatMap(({ parts }) => parts)) {
        ensure(text.slice(part.from, part.to) === part.base, () => `a pending change is on another text: ${JSON.stringify(part)}`);
      }
    }
    for (const editor of this.editors) {
      // A reply is a barrier: all events before it have arrived.
      await editor.connection.call("settings:get", {});
      if (!this.pendingMayDiffer && !editor.connection.isLost) editor.replica.checkMatches(requests);
    }
    fresh.close();
    this.count.updates = reference.version;
  }
}
