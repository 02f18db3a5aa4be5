// Sessions with every rule of review at once: requests expire or are extended, people vote,
// policies change, text is frozen, owners add rules, hunks are undone and reopened, while people
// type and faults are injected. Events are checked in `review_replica.mjs`, what was committed in
// `audit_oracle.mjs`.
import { setTimeout as pause } from "node:timers/promises";
import { SeededRandom } from "./seeded_random.mjs";
import { AuditOracle } from "./audit_oracle.mjs";
import { ReviewReplica } from "./review_replica.mjs";
import { ensure } from "./reference_document.mjs";
import { withTimeout } from "./connection.mjs";
import { EditingSession } from "./editing_session.mjs";

const STEPS = 130;
const MAX_REQUESTS = 8;
const MAX_EXTENSIONS = 3;
/** Time for which a focus certainly counts; the server takes 15 s. */
const FOCUS_MS = 14_000;
/** Refusals of a decision: others decided, typed, froze text or changed settings meanwhile. */
const REFUSALS = ["not_found", "not_allowed", "expired", "already_resolved", "invalid_decision", "stale_preview", "conflicted"];
const EVENTS = ["expired", "voted", "ruleDecisions", "previewsChecked", "freezes", "frozenRefusals", "settingsChanged", "reopened", "extended", "focused", "withdrawn", "remembered", "forced", "edited", "concurrentDecisions", "already_resolved", "not_allowed", "conflicted", "stale_preview", "invalid_decision"];

/** Returns the profile of a seed. */
export function reviewProfile(seed) {
  const random = new SeededRandom(seed ^ 0x1a3);
  return { hasFaults: random.chance(0.35), hasProposals: true, concurrent: random.chance(0.7), people: 2 + random.below(2), hasUndo: true };
}

/** A session with all rules of review. */
export class ReviewSession extends EditingSession {
  constructor({ profile, ...options }) {
    super({ profile: profile ?? reviewProfile(options.seed), ...options });
    for (const what of EVENTS) this.count[what] ??= 0;
    this.auditOracle = new AuditOracle(this.count);
    this.replica = new ReviewReplica(this.count);
    /** All runs that were started. */
    this.startedRuns = [];
    this.agentConnections = [];
    this.extensions = 0;
    this.reviewers = [];
  }

  get steps() {
    return STEPS;
  }

  initialState() {
    const text = this.random.pick(this.server.proposals.filter(({ text }) => text)).text;
    return { text: this.perturb(text), people: this.profile.people };
  }

  async begin(initialState) {
    await super.begin(initialState);
    this.reviewers = this.server.people.map(({ token, role, name }) => ({ token, role, name, focused: new Map() }));
    for (const reviewer of this.reviewers) await this.connectReviewer(reviewer);
    const { random } = this;
    await this.configure({ timeoutSeconds: random.pick([1, 1, 2, 2, 0]), ...(random.chance(0.6) && { policy: random.pick(["two", "two", "not_requester"]) }) });
  }

  async observe() {
    const connection = await this.openObserver();
    connection.listener.replica = this.replica;
    return connection;
  }

  /** Connects a reviewer. */
  async connectReviewer(reviewer) {
    const { connection } = await this.openAndJoin(() => this.openObserver(reviewer.token));
    reviewer.connection = connection;
    reviewer.id = reviewer.connection.user.id;
    this.auditOracle.people.set(reviewer.id, reviewer.role);
  }

  get owner() {
    return this.reviewers[0];
  }

  /** Picks a reviewer, mostly one who may decide. */
  randomReviewer() {
    return this.random.weightedPick(this.reviewers.map((reviewer) => [reviewer.role === "viewer" ? 0.4 : 3, reviewer]));
  }

  async step() {
    const { random } = this, editor = this.random.pick(this.editors), isDisconnected = editor.connection === null;
    const act = random.weightedPick([
      [isDisconnected ? 0 : 9, () => this.editAndSend(editor)],
      [3, () => this.edit(editor)],
      [2, () => this.send(editor)],
      [isDisconnected ? 0 : 5, () => this.deliver(editor)],
      [6, () => this.applyReceived(editor)],
      [isDisconnected ? 0 : 1, () => this.disconnect(editor)],
      [isDisconnected ? 6 : 0, () => this.reconnect(editor)],
      [this.requests < MAX_REQUESTS ? 5 : 0, () => this.ask()],
      [12, () => this.decide()],
      [2, () => this.decideConcurrently()],
      [4, () => this.undoAccepted()],
      [2.5, () => this.reopen()],
      [3, () => this.focusRequest()],
      [2, () => this.blur()],
      [2, () => this.extend()],
      [0.6, () => this.withdraw()],
      [1.5, () => this.changePolicy()],
      [2, () => this.freezeRanges()],
      [this.replica.frozen.length > 0 ? 2 : 0, () => this.configure({ frozen: { version: this.replica.confirmed.version, ranges: [] } })],
      [1, () => this.addRule()],
      [2, () => this.revokeRule()],
      [0.7, () => this.reconnectReviewer()],
      [2, () => pause(random.below(400))],
    ]);
    await act();
    await pause(random.below(12));
  }

  /** Edits and sends at once. */
  async editAndSend(editor) {
    this.edit(editor);
    editor.send();
    await this.deliver(editor);
  }

  /** Asks on a new connection, which may be closed before the reply. */
  async ask() {
    const { random, server } = this, token = random.pick(server.tokens), connection = await this.openObserver(token);
    const { prompt } = random.pick(server.proposals), { sessionId } = connection;
    this.requests++;
    this.count.proposals++;
    const { faults } = this.count;
    const reply = await connection.call("askClaudeCode", { sessionId, prompt, context: { documentId: this.documentId } });
    ensure(reply.lost || reply.ok || this.isDatabaseOutage(reply.error.code, faults), () => `asking was refused: ${JSON.stringify(reply.error)}`);
    this.log(`${connection.user.name} asks for ${prompt}: run ${reply.requestId}`);
    if (random.chance(0.3)) connection.close();
    else this.agentConnections.push(connection);
    if (reply.lost || reply.error) return;
    this.startedRuns.push({ token, sessionId, run: reply.requestId });
    this.runsRequested.push(reply.requestId);
    if (!this.profile.concurrent) await this.waitForRuns();
  }

  /** Picks an open request of the server, or now and then one that has ended. */
  async randomRequest(reviewer) {
    const { random, replica } = this;
    const ended = [...replica.requests.values()].filter(({ request_id: id }) => !replica.open.has(id));
    if (ended.length > 0 && random.chance(0.08)) return random.pick(ended);
    const listed = await reviewer.connection.call("list_pending_approvals", { documentId: this.documentId });
    return random.pick(listed.requests ?? []);
  }

  async decide(reviewer = this.randomReviewer()) {
    const request = await this.randomRequest(reviewer);
    if (request) await this.awaitUnlessConcurrent(this.sendReviewDecision(reviewer, this.randomDecision(request)));
  }

  randomDecision(request) {
    const { random } = this, { request_id, preview_hash } = request;
    const hash = random.weightedPick([[16, { preview_hash }], [2, {}], [1, { preview_hash: "0".repeat(64) }]]);
    const about = { request_id, ...hash };
    const whole = random.weightedPick([[7, {}], [2, { approved: true }], [1, { approved: false, feedback: "No." }]]);
    if ("approved" in whole) return { ...about, ...whole, ...(whole.approved && this.randomRemember()) };
    const hunks = request.hunks.filter(() => random.chance(0.4)).map((hunk) => this.randomVerdict(hunk, request));
    if (hunks.length === 0) hunks.push(...request.hunks.slice(0, 1).map((hunk) => this.randomVerdict(hunk, request)));
    const approved = hunks.some(({ decision }) => decision === "accept"), isWhole = hunks.every(({ decision }) => decision === "accept");
    return { ...about, approved, hunks, ...(random.chance(0.15) && { finish: random.pick(["accept", "reject"]) }), ...(isWhole && this.randomRemember()) };
  }

  randomRemember() {
    const { random } = this;
    return random.chance(0.12) && { remember: { scope: random.pick(["session", "document"]), ...(random.chance(0.5) && { max_units: 1 + random.below(300) }) } };
  }

  randomVerdict({ id, status, parts }, { version }) {
    const { random } = this, { confirmed } = this.replica;
    if (random.chance(0.3)) return { id, decision: "reject" };
    const edited = random.chance(0.15) && { text: random.pick(["edited", "otherwise", ""]) };
    if (edited) this.count.edited++;
    const accept = { id, decision: "accept", ...edited };
    if (status !== "conflict" || version !== confirmed.version || random.chance(0.3)) return accept;
    this.count.forced++;
    return { ...accept, force: true, seen: confirmed.doc.sliceString(parts[0].from, parts.at(-1).to) };
  }

  /**
   * Returns whether a refusal is due to an outage. During a fault, or if one was injected since
   * their number was `faults`, one of several servers may answer that it could not do something.
   * The audit log then shows that it was not done.
   */
  isDatabaseOutage(code, faults) {
    return this.server.isSeveral && code === "internal" && (this.isFaultInProgress || faults < this.count.faults);
  }

  async sendReviewDecision(reviewer, decision) {
    const { auditOracle, count } = this, { faults } = count, note = auditOracle.recordDecision(reviewer.id, decision);
    const reply = await reviewer.connection.call("tool_approval_response", { ...decision, note });
    auditOracle.sent.get(note).reply = reply.lost ? (reply.refusal ?? null) : reply;
    if (reply.lost) return;
    const { code, message } = reply.error ?? {};
    ensure(reply.ok || REFUSALS.includes(code) || this.isDatabaseOutage(code, faults), () => `a decision was answered ${JSON.stringify(reply.error)}`);
    ensure(reviewer.role !== "viewer" || !reply.ok, "a viewer decided");
    count.decisions += Number(reply.ok);
    count.remembered += Number(reply.ok && Boolean(decision.remember));
    count.frozenRefusals += Number(code === "invalid_decision" && message.includes("frozen"));
    this.log(`${reviewer.name} decides ${note} on ${decision.request_id}: ${JSON.stringify(decision.hunks ?? decision.approved)}: ${code ?? reply.status}`);
  }

  /** Sends concurrent decisions on the same hunk; one is the first. */
  async decideConcurrently() {
    const reviewer = this.randomReviewer(), request = await this.randomRequest(reviewer);
    if (!request) return;
    this.count.concurrentDecisions++;
    const { hunks } = request, { id } = this.random.pick(hunks), { request_id, preview_hash } = request;
    const decisionOf = (decision) => ({ request_id, preview_hash, approved: decision === "accept", hunks: [{ id, decision }] });
    const all = this.reviewers.filter(() => this.random.chance(0.6)).map((reviewer) => this.sendReviewDecision(reviewer, decisionOf(this.random.chance(0.7) ? "accept" : "reject")));
    await this.awaitUnlessConcurrent(Promise.all(all));
  }

  /** Sends another action on a request, which has a name in the audit log. */
  async sendAction(reviewer, action, event, payload) {
    const attempt = this.auditOracle.recordAction(reviewer.id, action, payload.request_id), { faults } = this.count;
    const reply = await reviewer.connection.call(event, payload);
    attempt.reply = reply.lost ? (reply.refusal ?? null) : reply;
    if (reply.lost) return attempt;
    const { code } = reply.error ?? {};
    // "The document has just changed": someone typed between reading and acting.
    ensure(reply.ok || REFUSALS.includes(code) || code === "invalid_payload" || this.isDatabaseOutage(code, faults), () => `${event} was answered ${JSON.stringify(reply.error)}`);
    ensure(reviewer.role !== "viewer" || !reply.ok, `a viewer could ${event}`);
    this.log(`${reviewer.name}: ${event} ${JSON.stringify(payload)}: ${code ?? reply.status}`);
    return attempt;
  }

  async undoAccepted() {
    const { random } = this, hunk = random.pick(this.replica.hunksWithStatus("accepted"));
    if (!hunk) return;
    const payload = { request_id: hunk.split(".")[0], ...(random.chance(0.7) && { hunks: [hunk] }), ...(random.chance(0.3) && { force: true }) };
    await this.awaitUnlessConcurrent(this.sendAction(this.randomReviewer(), "request.undo", "approval:undo", payload).then((it) => (this.count.undone += Number(it.reply?.ok === true))));
  }

  async reopen() {
    const { random } = this, hunk = random.pick(this.replica.hunksWithStatus("rejected", "expired"));
    if (!hunk) return;
    const payload = { request_id: hunk.split(".")[0], ...(random.chance(0.5) && { hunks: [hunk] }) };
    await this.awaitUnlessConcurrent(this.sendAction(this.randomReviewer(), "request.reopen", "approval:reopen", payload).then((it) => (this.count.reopened += Number(it.reply?.ok === true))));
  }

  async withdraw() {
    const request_id = this.random.pick([...this.replica.open.keys()]);
    if (!request_id) return;
    await this.awaitUnlessConcurrent(this.sendAction(this.randomReviewer(), "request.withdraw", "approval:withdraw", { request_id }).then((it) => (this.count.withdrawn += Number(it.reply?.ok === true))));
  }

  async extend() {
    const request_id = this.random.pick([...this.replica.open.keys()]);
    if (!request_id || this.extensions >= MAX_EXTENSIONS) return;
    this.extensions++;
    await this.awaitUnlessConcurrent(this.sendAction(this.randomReviewer(), "request.extend", "approval:extend", { request_id }).then((it) => (this.count.extended += Number(it.reply?.ok === true))));
  }

  /** Focuses a request, which pauses its deadline. */
  async focusRequest() {
    const reviewer = this.randomReviewer(), request = this.random.pick([...this.replica.open.keys()]);
    if (!request || reviewer.role === "viewer") return;
    // The server counts from the moment of receipt, which may be long before the reply.
    const to = Date.now() + FOCUS_MS;
    const reply = await reviewer.connection.call("approval:focus", { request_id: request, on: true });
    if (!reply.ok || reviewer.focused.has(request)) return;
    const period = { request, from: Date.now(), to };
    this.count.focused++;
    this.auditOracle.focusPeriods.push(period);
    reviewer.focused.set(request, period);
    this.log(`${reviewer.name} focuses ${request}`);
  }

  endFocus(reviewer) {
    const requests = [...reviewer.focused.keys()];
    for (const period of reviewer.focused.values()) period.to = Math.min(period.to, Date.now());
    reviewer.focused.clear();
    return requests;
  }

  async blur(reviewers = [this.randomReviewer()]) {
    for (const reviewer of reviewers) {
      for (const request of this.endFocus(reviewer)) await reviewer.connection.call("approval:focus", { request_id: request, on: false });
    }
  }

  /** Reconnects a reviewer, who has nothing focused then. */
  async reconnectReviewer(reviewer = this.randomReviewer()) {
    this.endFocus(reviewer);
    reviewer.connection.close();
    await this.connectReviewer(reviewer);
  }

  async changePolicy() {
    const { random } = this, policy = random.pick(["any", "any", "two", "two", "two", "not_requester", "owner"]);
    const other = random.pick(this.reviewers.slice(1));
    if (random.chance(0.8)) return this.configure({ policy });
    const reply = await other.connection.call("document:settings", { documentId: this.documentId, policy: "any" });
    ensure(reply.lost || reply.error?.code === "not_allowed", () => `${other.name} changed the policy: ${JSON.stringify(reply)}`);
  }

  /** Freezes one or two ranges in the newest version received. */
  async freezeRanges() {
    const { doc, version } = this.replica.confirmed, text = doc.toString();
    const positions = [0];
    for (const character of text) positions.push(positions.at(-1) + character.length);
    const ends = Array.from({ length: this.random.pick([2, 2, 4]) }, () => this.random.pick(positions)).sort((a, b) => a - b);
    const ranges = ends.flatMap((from, at) => (at % 2 === 0 && from < ends[at + 1] ? [{ from, to: ends[at + 1] }] : []));
    if (ranges.length === 0) return;
    this.count.freezes++;
    await this.configure({ frozen: { version, ranges } });
  }

  async configure(settings) {
    const { faults } = this.count;
    const reply = this.owner.connection.call("document:settings", { documentId: this.documentId, ...settings }).then((reply) => {
      // Someone typed inside a character while text beside it was being frozen.
      ensure(reply.lost || reply.ok || (settings.frozen && reply.error.code === "invalid_payload") || this.isDatabaseOutage(reply.error.code, faults), () => `settings were answered ${JSON.stringify(reply.error)}`);
      this.count.settingsChanged += Number(reply.ok === true);
      this.log(`settings: ${JSON.stringify(settings)}: ${reply.error?.code ?? "ok"}`);
    });
    await this.awaitUnlessConcurrent(reply);
  }

  /** Adds a rule of an owner for all later requests. */
  async addRule() {
    const { random, owner, documentId } = this, tool = random.pick(["update_full_document", "find_and_replace"]);
    const rule = random.weightedPick([
      [0.5, { effect: "deny", tool: random.chance(0.3) ? "*" : tool, ...(random.chance(0.8) && { over: random.below(200) }) }],
      [2, { effect: "ask", tool, ...(random.chance(0.5) && { over: random.below(200) }) }],
      [2, { effect: "allow", tool, ...(random.chance(0.5) && { max_units: 1 + random.below(300) }) }],
    ]);
    const { faults } = this.count, reply = await owner.connection.call("rules:add", { documentId, ...rule });
    ensure(reply.lost || reply.ok || this.isDatabaseOutage(reply.error.code, faults), () => `a rule was answered ${JSON.stringify(reply.error)}`);
    this.log(`a rule: ${JSON.stringify(rule)}`);
  }

  async revokeRule() {
    const { documentId, owner } = this, listed = await owner.connection.call("rules:list", { documentId });
    const rule = this.random.pick(listed.rules ?? []);
    if (!rule) return;
    const { faults } = this.count, reply = await owner.connection.call("rules:revoke", { id: rule.id });
    ensure(reply.lost || reply.ok || this.isDatabaseOutage(reply.error.code, faults), () => `revoking a rule was answered ${JSON.stringify(reply.error)}`);
    this.log(`${rule.id} is revoked`);
  }

  /** Sends decisions of all reviewers, as long as the server answers. */
  async decideRepeatedly() {
    const until = performance.now() + 40;
    await Promise.all(this.reviewers.map(async (reviewer) => {
      while (performance.now() < until) {
        const request = await this.randomRequest(reviewer);
        if (!request) return;
        await this.sendReviewDecision(reviewer, this.randomDecision(request));
      }
    }));
  }

  decideDuringFault() {
    const reviewer = this.randomReviewer(), { connection } = reviewer;
    const deciding = this.randomRequest(reviewer).then((request) => request && reviewer.connection === connection && this.sendReviewDecision(reviewer, this.randomDecision(request)));
    deciding.catch(this.fail);
  }

  async injectFault() {
    this.reviewers.forEach((reviewer) => this.endFocus(reviewer));
    this.isFaultInProgress = true;
    const deciding = this.profile.concurrent ? undefined : this.decideRepeatedly();
    // It may fail long before it is awaited.
    deciding?.catch(this.fail);
    await super.injectFault();
    await deciding;
    this.isFaultInProgress = false;
    for (const reviewer of this.reviewers) await this.reconnectReviewer(reviewer);
  }

  async drain() {
    await withTimeout(Promise.all(this.inFlight), "the last replies");
    await this.blur(this.reviewers);
    await super.drain();
    await this.waitForExpiry();
    await this.waitForRunsToEnd();
    await super.drain();
  }

  /** Waits until every request with a deadline has ended. */
  async waitForExpiry() {
    let timed = [];
    const isOver = async () => {
      const { lost, requests } = await this.observer.call("list_pending_approvals", { documentId: this.documentId });
      if (lost) return !(await this.joinAsObserver());
      timed = requests.filter(({ expires_at: at }) => at !== null);
      return timed.length === 0;
    };
    await this.waitFor(isOver, () => `the end of ${JSON.stringify(timed.map(({ request_id, expires_at, paused }) => ({ request_id, expires_at, paused })))}`);
  }

  /** Waits until each run has ended, or waits for people without a deadline. */
  async waitForRunsToEnd() {
    for (const { token, sessionId, run } of this.startedRuns) {
      let state;
      const isOver = async () => {
        state = await this.get(`sessions/${sessionId}/runs/${run}`, token);
        return state.finished_at !== null || state.waiting.length > 0;
      };
      await this.waitFor(isOver, () => `the end of ${JSON.stringify(state)}`);
    }
  }

  async waitFor(holds, what) {
    for (const until = Date.now() + 30_000; !(await holds()); await pause(30)) ensure(Date.now() < until, () => `timed out waiting for ${what()}`);
  }

  async get(path, token = this.server.tokens[0]) {
    const reply = await fetch(`${this.server.url}/api/v1/${path}`, { headers: { authorization: `Bearer ${token}` } });
    ensure(reply.ok, () => `${path} was answered ${reply.status}`);
    return reply.json();
  }

  /** Returns the audit log of the document, oldest first. */
  async auditLog() {
    const lines = [];
    for (let before = ""; before !== undefined; ) {
      const page = await this.get(`documents/${this.documentId}/audit?limit=500${before && `&before=${before}`}`);
      lines.push(...page.lines);
      before = page.before;
    }
    return lines.reverse();
  }

  async check() {
    await super.check();
    const { reference, documentId, auditOracle, replica } = this, text = reference.doc.toString();
    const whole = await this.get(`documents/${documentId}`);
    ensure(whole.text === text && whole.version === reference.version, () => `REST has ${JSON.stringify(whole.text)}, the log says ${JSON.stringify(text)}`);
    const { connection: replay } = await this.openAndJoin(() => this.openObserver(), 0);
    ensure(replay.version === reference.version, () => `the log from its beginning ends at ${replay.version}, not at ${reference.version}`);
    replay.close();
    const lines = await this.auditLog(), created = lines.filter(({ action }) => action === "request.create");
    const requests = [];
    for (const { request } of created) requests.push(await this.get(`requests/${request}`));
    auditOracle.check({ lines, requests, appliedUpdates: replica.appliedUpdates });
    for (const connection of [...this.agentConnections, ...this.reviewers.map(({ connection }) => connection)]) connection.close();
  }
}
