// A session: several editors, a document, and random operations and faults, as the seed has them.
import { setImmediate as turn, setTimeout as pause } from "node:timers/promises";
import { REGRESSION_SEEDS } from "./scripted_sessions.mjs";
import { SeededRandom } from "./seeded_random.mjs";
import { ensure } from "./reference_document.mjs";
import { SessionBase } from "./session_base.mjs";

const STEPS = 120;

/** Returns the profile of a seed. */
export function sessionProfile(seed) {
  const random = new SeededRandom(seed ^ 0x5eed);
  return {
    /** Faults are injected. */
    hasFaults: random.chance(0.1),
    /** Hunks of a model are pending while people type. */
    hasProposals: random.chance(0.3),
    /**
     * Pushes are concurrent. Otherwise the seed alone decides the order of events, but for faults.
     */
    concurrent: random.chance(0.5),
    people: 2 + random.below(5),
    /** Accepted hunks are undone now and then. */
    hasUndo: random.chance(0.5) && !(seed in REGRESSION_SEEDS),
  };
}

/** A session of random operations and faults. */
export class EditingSession extends SessionBase {
  /** The profile is that of the seed unless it is given. */
  constructor({ seed, profile: given, ...options }) {
    super({ seed, profile: given ?? sessionProfile(seed), ...options });
  }

  get steps() {
    return STEPS;
  }

  async runSteps() {
    const { steps } = this;
    await this.begin(this.initialState());
    const faults = Array.from({ length: this.profile.hasFaults ? (this.profile.faults ?? 1 + this.random.below(3)) : 0 }, () => 20 + this.random.below(steps - 30));
    for (let step = 0; step < steps; step++) {
      if (faults.includes(step)) await this.injectFault();
      await this.step();
    }
    await this.drain();
    await this.check();
  }

  initialState() {
    const { random, profile, server } = this;
    this.proposal = random.pick(server.proposals);
    const text = profile.hasProposals ? this.perturb(this.proposal.text) : random.words(25).replace(/\r\n?/g, "\n");
    return { text, people: profile.people };
  }

  /** Replaces some words of the proposed text, so that the proposal has several hunks. */
  perturb(text) {
    return text.replace(/[^\s]+/g, (word) => (this.random.chance(0.2) ? this.random.words(2).replace(/[\r\n]/g, " ") : word));
  }

  async step() {
    const { random, profile } = this, editor = random.pick(this.editors);
    const isDisconnected = editor.connection === null;
    const act = random.weightedPick([
      [14, "edit"],
      [8, "send"],
      [isDisconnected ? 0 : 10, "deliver"],
      [10, "applyReceived"],
      [isDisconnected ? 0 : 1.5, "disconnect"],
      [isDisconnected ? 8 : 0, "reconnect"],
      [isDisconnected ? 0 : 1, "resync"],
      [isDisconnected ? 0 : 1, "switchConnection"],
      [this.editors.length < 6 ? 0.3 : 0, "addEditor"],
      [profile.hasProposals && !isDisconnected && !editor.hasAsked && this.requests < 2 ? 1.5 : 0, "ask"],
      [profile.hasProposals && !isDisconnected && this.requests > 0 ? 3 : 0, "decide"],
      [profile.hasUndo && !isDisconnected && this.accepted().length > 0 ? 1.5 : 0, "undo"],
    ]);
    await this[act](editor);
    if (profile.concurrent) await turn();
  }

  edit(editor) {
    const { length } = editor.author.changes;
    editor.edit(this.random);
    this.log(`${editor.name} makes ${editor.author.changes.length - length} updates`);
  }

  send(editor) {
    editor.send();
  }

  /** Sends the oldest push. Concurrent pushes are not awaited. */
  async deliver(editor) {
    if (editor.outbox.length === 0) return;
    await this.push(editor, editor.outbox.shift());
  }

  async push(editor, push, connection = editor.connection) {
    this.count.pushes++;
    if (push.changeCount - push.updates.length < editor.sent) this.count.resent++;
    editor.sent = Math.max(editor.sent, push.changeCount);
    this.log(`${editor.name} pushes ${push.updates.length} on ${push.version}`);
    const reply = editor.deliver(this.documentId, push, connection).then((version) => version && this.log(`${editor.name} receives the reply ${version}`));
    await this.awaitUnlessConcurrent(reply);
  }

  /** Awaits a reply, unless pushes are concurrent. */
  async awaitUnlessConcurrent(reply) {
    if (!this.profile.concurrent) return reply;
    const settled = reply.catch(this.fail).finally(() => this.inFlight.delete(settled));
    this.inFlight.add(settled);
  }

  /** Applies some received updates. */
  async applyReceived(editor) {
    if (editor.connection && !this.profile.concurrent) await this.waitForAllUpdates(editor);
    const count = this.random.chance(0.4) ? editor.inbox.length : this.random.below(1 + Math.min(4, editor.inbox.length));
    editor.applyReceived(count);
    if (count > 0) this.log(`${editor.name} applies ${count}, now at ${editor.version}`);
  }

  /** Loses the connection; often with a push on its way, whose outcome is unknown. */
  async disconnect(editor) {
    this.count.disconnects++;
    if (this.random.chance(0.7)) editor.send();
    const push = editor.outbox.at(-1);
    if (push) {
      this.count.unansweredPushes++;
      const reply = editor.connection.call("document:push", { documentId: this.documentId, version: push.version, updates: push.updates });
      // The push is applied and its reply lost; or the connection ends at once, and the outcome is
      // unknown.
      if (!this.profile.concurrent || this.random.chance(0.3)) {
        const { ok, error } = await reply;
        ensure(ok !== false || (editor.mayNeedUpdates && error.code === "resync"), () => `${editor.name}: the last push was refused: ${JSON.stringify(error)}`);
      }
    }
    this.log(`${editor.name} loses its connection${push ? " right after a push" : ""}`);
    editor.disconnect(this.random);
  }

  async resync(editor) {
    await this.catchUp(editor);
  }

  /** Opens a new connection before the old one is closed, both with the same push on its way. */
  async switchConnection(editor) {
    editor.send();
    const push = editor.outbox.at(-1), old = editor.connection;
    editor.outbox = [];
    const fresh = await this.openConnection(editor);
    if (push) await this.push(editor, push, old);
    editor.connection = fresh;
    await this.catchUp(editor);
    if (push) await this.push(editor, push, fresh);
    old.close();
    this.log(`${editor.name} continues on another connection`);
  }

  async ask(editor) {
    this.requests++;
    editor.hasAsked = true;
    this.count.proposals++;
    this.log(`${editor.name} asks for ${this.proposal.prompt}`);
    const { connection } = editor, { sessionId } = connection;
    const reply = await connection.call("askClaudeCode", { sessionId, prompt: this.proposal.prompt, context: { documentId: this.documentId } });
    ensure(reply.lost || reply.ok, () => `asking was refused: ${JSON.stringify(reply.error)}`);
    if (reply.lost) return;
    this.runsRequested.push(reply.requestId);
    if (!this.profile.concurrent) await this.waitForRuns();
  }

  /** Accepts some hunks, rejects others, leaves others open. */
  async decide(editor) {
    const listed = await editor.connection.call("list_pending_approvals", { documentId: this.documentId });
    const request = this.random.pick(listed.requests ?? []);
    if (!request) return;
    const open = request.hunks.filter(({ status }) => status === "pending" || status === "conflict").filter(() => this.random.chance(0.5));
    const hunks = open.map(({ id, status }) => ({ id, decision: status === "pending" && this.random.chance(0.6) ? "accept" : "reject" }));
    if (hunks.length === 0) return;
    const approved = hunks.some(({ decision }) => decision === "accept");
    await this.awaitUnlessConcurrent(this.submitDecision(editor, { request_id: request.request_id, preview_hash: request.preview_hash, approved, hunks }));
  }

  async submitDecision(editor, decision) {
    const reply = await editor.connection.call("tool_approval_response", decision);
    if (reply.lost) return;
    if (reply.ok) for (const { id, decision: what } of decision.hunks) this.decided.set(id, what);
    // Others typed or decided meanwhile.
    const expectedRefusals = ["stale_preview", "already_resolved", "conflicted", "invalid_decision", "not_found"];
    const code = reply.error?.code;
    ensure(reply.ok || (this.profile.concurrent && expectedRefusals.includes(code)), () => `a decision was refused: ${JSON.stringify(reply.error)}`);
    this.count.decisions += Number(reply.ok);
    this.log(`${editor.name} decides ${decision.hunks.length}: ${code ?? reply.status}`);
  }

  accepted() {
    return [...this.decided].filter(([, what]) => what === "accept").map(([id]) => id);
  }

  /** Undoes one accepted hunk. */
  async undo(editor) {
    const hunk = this.random.pick(this.accepted());
    // Until the reply, it may be either.
    this.decided.delete(hunk);
    await this.awaitUnlessConcurrent(this.undoHunk(editor, hunk));
  }

  async undoHunk(editor, hunk) {
    const [request_id] = hunk.split(".");
    const reply = await editor.connection.call("approval:undo", { request_id, hunks: [hunk] });
    if (reply.lost) return;
    // People edited the hunk, or someone else undid it.
    const code = reply.error?.code;
    ensure(reply.ok || ["conflicted", "invalid_decision"].includes(code), () => `an undo was refused: ${JSON.stringify(reply.error)}`);
    if (code === "conflicted") this.decided.set(hunk, "accept");
    this.count.undone += Number(reply.ok);
    this.log(`${editor.name} undoes ${hunk}: ${code ?? reply.status}`);
  }

  /**
   * Injects a fault, often with pushes on their way. Everything acknowledged or seen must be there
   * afterwards.
   */
  async injectFault() {
    this.count.faults++;
    const connected = this.editors.filter(({ connection }) => connection);
    for (const editor of connected) if (this.random.chance(0.6)) editor.send();
    for (const editor of connected) {
      for (const push of editor.outbox.splice(0)) editor.deliver(this.documentId, push).catch(this.fail);
    }
    const decider = this.random.pick(connected);
    if (decider && this.profile.hasProposals && this.profile.concurrent) this.decideRepeatedly(decider).catch(this.fail);
    // At any moment, also during the work of the server.
    const at = performance.now() + this.random.next() * this.random.pick([0, 3, 30]);
    while (performance.now() < at) await turn();
    await this.continueDuringFault(this.server.injectFault());
    const acknowledged = this.editors.map((editor) => editor.acknowledged);
    this.observer.close();
    for (const editor of this.editors) editor.disconnect(this.random);
    await Promise.all(this.inFlight);
    const seen = this.reference.version;
    const { document, requests } = await this.reopenObserver();
    this.checkDecisions(requests);
    ensure(document.version >= seen, () => `version ${seen} was seen, after the fault the version is ${document.version}`);
    this.editors.forEach((editor, at) => ensure(editor.author.committed >= acknowledged[at], `${editor.name}: acknowledged updates are missing after the fault`));
    // A server that was not killed may have committed something more since it returned the text.
    const { version, text } = document, logged = this.reference.texts[version].toString();
    ensure(text === logged, () => `the text of version ${version} after the fault is ${JSON.stringify(text)}, by the log it is ${JSON.stringify(logged)}`);
    this.log(`a fault was injected; the server is at ${document.version}`);
  }

  /** Lets people go on during a lasting fault. What they send may be answered late, or never. */
  async continueDuringFault(fault) {
    let isOver = !this.profile.faultsLast;
    const ended = fault.finally(() => (isOver = true));
    for (let turns = 0; !isOver; turns++) {
      this.editDuringFault();
      if (turns % 4 === 3) this.decideDuringFault();
      this.server.tookTurn();
      await pause(100 + this.random.below(200));
    }
    await ended;
  }

  editDuringFault() {
    const editor = this.random.pick(this.editors.filter(({ connection }) => connection));
    if (!editor) return;
    this.edit(editor);
    editor.send();
    for (const push of editor.outbox.splice(0)) editor.deliver(this.documentId, push).catch(this.fail);
  }

  decideDuringFault() {
    const editor = this.random.pick(this.editors.filter(({ connection }) => connection));
    if (editor && this.profile.hasProposals && this.profile.concurrent) this.decideRepeatedly(editor).catch(this.fail);
  }

  /** Sends one decision after the other, as long as the server answers. */
  async decideRepeatedly(editor) {
    for (const deadline = performance.now() + 40; editor.connection && performance.now() < deadline; ) {
      const listed = await editor.connection.call("list_pending_approvals", { documentId: this.documentId });
      const request = listed.requests?.[0], hunk = request?.hunks.find(({ status }) => status === "pending");
      if (!hunk) return;
      const hunks = [{ id: hunk.id, decision: "accept" }];
      await this.submitDecision(editor, { request_id: request.request_id, preview_hash: request.preview_hash, approved: true, hunks });
    }
  }
}
