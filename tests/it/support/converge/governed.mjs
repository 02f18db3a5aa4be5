// Sessions under every rule of review at once: requests that run out of time or are given more,
// votes, policies that change, words that are frozen, rules, undo and proposing again, while people
// type and the server may be killed. What is told is held against the rules in `hearing.mjs`, what
// was kept in `docket.mjs`.
import { setTimeout as pause } from "node:timers/promises";
import { Dice } from "./dice.mjs";
import { Docket } from "./docket.mjs";
import { Hearing } from "./hearing.mjs";
import { must } from "./ledger.mjs";
import { late } from "./line.mjs";
import { Session } from "./session.mjs";

const STEPS = 130;
const MOST_REQUESTS = 8;
const MOST_EXTENSIONS = 3;
/** A look counts for 15 s after it was said. */
const LOOK_MS = 14_000;
/**
 * What the server may say of a decision: others decided, typed, froze words or changed settings
 * meanwhile.
 */
const REFUSALS = ["not_found", "not_allowed", "expired", "already_resolved", "invalid_decision", "stale_preview", "conflicted"];
const HAPPENED = ["expired", "voted", "ruled", "shown", "froze", "frozen", "configured", "reopened", "extended", "looked", "withdrawn", "remembered", "forced", "edited", "rivals", "already_resolved", "not_allowed", "conflicted", "stale_preview", "invalid_decision"];

/** What a seed is about. */
export function governed(seed) {
  const dice = new Dice(seed ^ 0x1a3);
  return { cut: dice.chance(0.35), reviewed: true, racing: dice.chance(0.7), people: 2 + dice.below(2), undoes: true };
}

export class Governed extends Session {
  constructor({ kind, ...place }) {
    super({ kind: kind ?? governed(place.seed), ...place });
    for (const what of HAPPENED) this.count[what] ??= 0;
    this.docket = new Docket(this.count);
    this.hearing = new Hearing(this.count);
    /** Runs that were asked for, for good. */
    this.runsOf = [];
    this.windows = [];
    this.extensions = 0;
    this.seats = [];
  }

  get steps() {
    return STEPS;
  }

  scene() {
    const text = this.dice.pick(this.desk.proposals.filter(({ text }) => text)).text;
    return { text: this.garble(text), people: this.kind.people };
  }

  async begin(scene) {
    await super.begin(scene);
    this.seats = this.desk.people.map(({ token, role, name }) => ({ token, role, name, looks: new Map() }));
    for (const seat of this.seats) await this.sit(seat);
    const { dice } = this;
    await this.configures({ timeoutSeconds: dice.pick([1, 1, 2, 2, 0]), ...(dice.chance(0.6) && { policy: dice.pick(["two", "two", "not_requester"]) }) });
  }

  async observe() {
    const line = await this.watch();
    line.ear.mirror = this.hearing;
    return line;
  }

  /** A person who decides, in a window of their own. */
  async sit(seat) {
    seat.line = await this.watch(seat.token);
    await seat.line.join();
    seat.id = seat.line.user.id;
    this.docket.people.set(seat.id, seat.role);
  }

  get owner() {
    return this.seats[0];
  }

  /** Mostly those who may decide. */
  somebody() {
    return this.dice.weighed(this.seats.map((seat) => [seat.role === "viewer" ? 0.4 : 3, seat]));
  }

  async step() {
    const { dice } = this, editor = this.dice.pick(this.editors), away = editor.line === null;
    const act = dice.weighed([
      [away ? 0 : 9, () => this.types(editor)],
      [3, () => this.write(editor)],
      [2, () => this.send(editor)],
      [away ? 0 : 5, () => this.deliver(editor)],
      [6, () => this.pull(editor)],
      [away ? 0 : 1, () => this.part(editor)],
      [away ? 6 : 0, () => this.comeBack(editor)],
      [this.requests < MOST_REQUESTS ? 5 : 0, () => this.ask()],
      [12, () => this.decide()],
      [2, () => this.rivals()],
      [4, () => this.takesBack()],
      [2.5, () => this.proposesAgain()],
      [3, () => this.looks()],
      [2, () => this.looksAway()],
      [2, () => this.extends()],
      [0.6, () => this.withdraws()],
      [1.5, () => this.changesPolicy()],
      [2, () => this.freezes()],
      [this.hearing.frozen.length > 0 ? 2 : 0, () => this.configures({ frozen: { version: this.hearing.synced.version, ranges: [] } })],
      [1, () => this.rules()],
      [2, () => this.revokes()],
      [0.7, () => this.leaves()],
      [2, () => pause(dice.below(400))],
    ]);
    await act();
    await pause(dice.below(12));
  }

  /** A burst that is sent at once. */
  async types(editor) {
    this.write(editor);
    editor.send();
    await this.deliver(editor);
  }

  /** Somebody asks in a new window, which may be closed before there is an answer. */
  async ask() {
    const { dice, desk } = this, token = dice.pick(desk.tokens), line = await this.watch(token);
    const { prompt } = dice.pick(desk.proposals), { sessionId } = line;
    this.requests++;
    this.count.proposals++;
    const asked = await line.call("askClaudeCode", { sessionId, prompt, context: { documentId: this.documentId } });
    must(asked.lost || asked.ok, () => `asking was refused: ${JSON.stringify(asked.error)}`);
    this.log(`${line.user.name} asks for ${prompt}: run ${asked.requestId}`);
    if (dice.chance(0.3)) line.close();
    else this.windows.push(line);
    if (asked.lost) return;
    this.runsOf.push({ token, sessionId, run: asked.requestId });
    this.asked.push(asked.requestId);
    if (!this.kind.racing) await this.runsAreHeard();
  }

  /** An open request as the server has it, or now and then one that has ended. */
  async request(seat) {
    const { dice, hearing } = this;
    const ended = [...hearing.cards.values()].filter(({ request_id: id }) => !hearing.open.has(id));
    if (ended.length > 0 && dice.chance(0.08)) return dice.pick(ended);
    const listed = await seat.line.call("list_pending_approvals", { documentId: this.documentId });
    return dice.pick(listed.requests ?? []);
  }

  async decide(seat = this.somebody()) {
    const request = await this.request(seat);
    if (request) await this.orNot(this.says(seat, this.decision(request)));
  }

  decision(request) {
    const { dice } = this, { request_id, preview_hash } = request;
    const hash = dice.weighed([[16, { preview_hash }], [2, {}], [1, { preview_hash: "0".repeat(64) }]]);
    const about = { request_id, ...hash };
    const whole = dice.weighed([[7, {}], [2, { approved: true }], [1, { approved: false, feedback: "No." }]]);
    if ("approved" in whole) return { ...about, ...whole, ...(whole.approved && this.remembering()) };
    const hunks = request.hunks.filter(() => dice.chance(0.4)).map((hunk) => this.verdict(hunk, request));
    if (hunks.length === 0) hunks.push(...request.hunks.slice(0, 1).map((hunk) => this.verdict(hunk, request)));
    const approved = hunks.some(({ decision }) => decision === "accept"), isWhole = hunks.every(({ decision }) => decision === "accept");
    return { ...about, approved, hunks, ...(dice.chance(0.15) && { finish: dice.pick(["accept", "reject"]) }), ...(isWhole && this.remembering()) };
  }

  remembering() {
    const { dice } = this;
    return dice.chance(0.12) && { remember: { scope: dice.pick(["session", "document"]), ...(dice.chance(0.5) && { max_units: 1 + dice.below(300) }) } };
  }

  verdict({ id, status, parts }, { version }) {
    const { dice } = this, { synced } = this.hearing;
    if (dice.chance(0.3)) return { id, decision: "reject" };
    const edited = dice.chance(0.15) && { text: dice.pick(["edited", "otherwise", ""]) };
    if (edited) this.count.edited++;
    const accept = { id, decision: "accept", ...edited };
    if (status !== "conflict" || version !== synced.version || dice.chance(0.3)) return accept;
    this.count.forced++;
    return { ...accept, force: true, seen: synced.doc.sliceString(parts[0].from, parts.at(-1).to) };
  }

  /**
   * While the database is away, or was since the number of faults was `cuts`, a server of several
   * may say that it could not do something. The audit log then shows that it was not done.
   */
  wasAway(code, cuts) {
    return this.desk.isSeveral && code === "internal" && (this.isCutting || cuts < this.count.cuts);
  }

  async says(seat, decision) {
    const { docket, count } = this, { cuts } = count, note = docket.sends(seat.id, decision);
    const answer = await seat.line.call("tool_approval_response", { ...decision, note });
    docket.sent.get(note).answer = answer.lost ? (answer.undone ?? null) : answer;
    if (answer.lost) return;
    const { code, message } = answer.error ?? {};
    must(answer.ok || REFUSALS.includes(code) || this.wasAway(code, cuts), () => `a decision was answered ${JSON.stringify(answer.error)}`);
    must(seat.role !== "viewer" || !answer.ok, "a viewer decided");
    count.decisions += Number(answer.ok);
    count.remembered += Number(answer.ok && Boolean(decision.remember));
    count.frozen += Number(code === "invalid_decision" && message.includes("frozen"));
    this.log(`${seat.name} decides ${note} on ${decision.request_id}: ${JSON.stringify(decision.hunks ?? decision.approved)}: ${code ?? answer.status}`);
  }

  /** Several people decide the same changes at once; one is the first. */
  async rivals() {
    const seat = this.somebody(), request = await this.request(seat);
    if (!request) return;
    this.count.rivals++;
    const { hunks } = request, { id } = this.dice.pick(hunks), { request_id, preview_hash } = request;
    const say = (decision) => ({ request_id, preview_hash, approved: decision === "accept", hunks: [{ id, decision }] });
    const all = this.seats.filter(() => this.dice.chance(0.6)).map((rival) => this.says(rival, say(this.dice.chance(0.7) ? "accept" : "reject")));
    await this.orNot(Promise.all(all));
  }

  /** Something else that is done to a request, by a name of the audit log. */
  async does(seat, action, event, payload) {
    const wish = this.docket.asks(seat.id, action, payload.request_id), { cuts } = this.count;
    const answer = await seat.line.call(event, payload);
    wish.answer = answer.lost ? (answer.undone ?? null) : answer;
    if (answer.lost) return wish;
    const { code } = answer.error ?? {};
    // "The document has just changed": somebody typed between looking it up and doing it.
    must(answer.ok || REFUSALS.includes(code) || code === "invalid_payload" || this.wasAway(code, cuts), () => `${event} was answered ${JSON.stringify(answer.error)}`);
    must(seat.role !== "viewer" || !answer.ok, `a viewer could ${event}`);
    this.log(`${seat.name}: ${event} ${JSON.stringify(payload)}: ${code ?? answer.status}`);
    return wish;
  }

  async takesBack() {
    const { dice } = this, hunk = dice.pick(this.hearing.those("accepted"));
    if (!hunk) return;
    const payload = { request_id: hunk.split(".")[0], ...(dice.chance(0.7) && { hunks: [hunk] }), ...(dice.chance(0.3) && { force: true }) };
    await this.orNot(this.does(this.somebody(), "request.undo", "approval:undo", payload).then((it) => (this.count.undone += Number(it.answer?.ok === true))));
  }

  async proposesAgain() {
    const { dice } = this, hunk = dice.pick(this.hearing.those("rejected", "expired"));
    if (!hunk) return;
    const payload = { request_id: hunk.split(".")[0], ...(dice.chance(0.5) && { hunks: [hunk] }) };
    await this.orNot(this.does(this.somebody(), "request.reopen", "approval:reopen", payload).then((it) => (this.count.reopened += Number(it.answer?.ok === true))));
  }

  async withdraws() {
    const request_id = this.dice.pick([...this.hearing.open.keys()]);
    if (!request_id) return;
    await this.orNot(this.does(this.somebody(), "request.withdraw", "approval:withdraw", { request_id }).then((it) => (this.count.withdrawn += Number(it.answer?.ok === true))));
  }

  async extends() {
    const request_id = this.dice.pick([...this.hearing.open.keys()]);
    if (!request_id || this.extensions >= MOST_EXTENSIONS) return;
    this.extensions++;
    await this.orNot(this.does(this.somebody(), "request.extend", "approval:extend", { request_id }).then((it) => (this.count.extended += Number(it.answer?.ok === true))));
  }

  /** Somebody looks at a request: it does not run out of time. */
  async looks() {
    const seat = this.somebody(), request = this.dice.pick([...this.hearing.open.keys()]);
    if (!request || seat.role === "viewer") return;
    // The server counts from the moment at which it heard, which may be long before the answer.
    const to = Date.now() + LOOK_MS;
    const answer = await seat.line.call("approval:focus", { request_id: request, on: true });
    if (!answer.ok || seat.looks.has(request)) return;
    const look = { request, from: Date.now(), to };
    this.count.looked++;
    this.docket.looks.push(look);
    seat.looks.set(request, look);
    this.log(`${seat.name} looks at ${request}`);
  }

  looksNoMore(seat) {
    const requests = [...seat.looks.keys()];
    for (const look of seat.looks.values()) look.to = Math.min(look.to, Date.now());
    seat.looks.clear();
    return requests;
  }

  async looksAway(seats = [this.somebody()]) {
    for (const seat of seats) {
      for (const request of this.looksNoMore(seat)) await seat.line.call("approval:focus", { request_id: request, on: false });
    }
  }

  /** A window is closed and opened again: whoever sat there looks at nothing. */
  async leaves(seat = this.somebody()) {
    this.looksNoMore(seat);
    seat.line.close();
    await this.sit(seat);
  }

  async changesPolicy() {
    const { dice } = this, policy = dice.pick(["any", "any", "two", "two", "two", "not_requester", "owner"]);
    const other = dice.pick(this.seats.slice(1));
    if (dice.chance(0.8)) return this.configures({ policy });
    const answer = await other.line.call("document:settings", { documentId: this.documentId, policy: "any" });
    must(answer.lost || answer.error?.code === "not_allowed", () => `${other.name} changed the policy: ${JSON.stringify(answer)}`);
  }

  /** One or two passages, where they stood a moment ago. */
  async freezes() {
    const { doc, version } = this.hearing.synced, text = doc.toString();
    const places = [0];
    for (const character of text) places.push(places.at(-1) + character.length);
    const ends = Array.from({ length: this.dice.pick([2, 2, 4]) }, () => this.dice.pick(places)).sort((a, b) => a - b);
    const ranges = ends.flatMap((from, at) => (at % 2 === 0 && from < ends[at + 1] ? [{ from, to: ends[at + 1] }] : []));
    if (ranges.length === 0) return;
    this.count.froze++;
    await this.configures({ frozen: { version, ranges } });
  }

  async configures(settings) {
    const { cuts } = this.count;
    const told = this.owner.line.call("document:settings", { documentId: this.documentId, ...settings }).then((answer) => {
      // Somebody typed inside a character while its neighbours were being frozen.
      must(answer.lost || answer.ok || (settings.frozen && answer.error.code === "invalid_payload") || this.wasAway(answer.error.code, cuts), () => `settings were answered ${JSON.stringify(answer.error)}`);
      this.count.configured += Number(answer.ok === true);
      this.log(`settings: ${JSON.stringify(settings)}: ${answer.error?.code ?? "ok"}`);
    });
    await this.orNot(told);
  }

  /** An owner rules about all requests to come. */
  async rules() {
    const { dice, owner, documentId } = this, tool = dice.pick(["update_full_document", "find_and_replace"]);
    const rule = dice.weighed([
      [0.5, { effect: "deny", tool: dice.chance(0.3) ? "*" : tool, ...(dice.chance(0.8) && { over: dice.below(200) }) }],
      [2, { effect: "ask", tool, ...(dice.chance(0.5) && { over: dice.below(200) }) }],
      [2, { effect: "allow", tool, ...(dice.chance(0.5) && { max_units: 1 + dice.below(300) }) }],
    ]);
    const answer = await owner.line.call("rules:add", { documentId, ...rule });
    must(answer.lost || answer.ok, () => `a rule was answered ${JSON.stringify(answer.error)}`);
    this.log(`a rule: ${JSON.stringify(rule)}`);
  }

  async revokes() {
    const { documentId, owner } = this, listed = await owner.line.call("rules:list", { documentId });
    const rule = this.dice.pick(listed.rules ?? []);
    if (!rule) return;
    const answer = await owner.line.call("rules:revoke", { id: rule.id });
    must(answer.lost || answer.ok, () => `revoking a rule was answered ${JSON.stringify(answer.error)}`);
    this.log(`${rule.id} is revoked`);
  }

  /** Everybody decides for as long as there is a server. */
  async decideAndMore() {
    const until = performance.now() + 40;
    await Promise.all(this.seats.map(async (seat) => {
      while (performance.now() < until) {
        const request = await this.request(seat);
        if (!request) return;
        await this.says(seat, this.decision(request));
      }
    }));
  }

  decideMeanwhile() {
    const seat = this.somebody(), { line } = seat;
    const deciding = this.request(seat).then((request) => request && seat.line === line && this.says(seat, this.decision(request)));
    deciding.catch(this.fail);
  }

  async cut() {
    this.seats.forEach((seat) => this.looksNoMore(seat));
    this.isCutting = true;
    const deciding = this.kind.racing ? undefined : this.decideAndMore();
    // It may fail long before anybody waits for it.
    deciding?.catch(this.fail);
    await super.cut();
    await deciding;
    this.isCutting = false;
    for (const seat of this.seats) await this.leaves(seat);
  }

  async drain() {
    await late(Promise.all(this.underway), "the last answers");
    await this.looksAway(this.seats);
    await super.drain();
    await this.timeIsOver();
    await this.runsAreOver();
    await super.drain();
  }

  /** Whatever can run out of time has. */
  async timeIsOver() {
    let timed = [];
    const isOver = async () => {
      const { requests } = await this.observer.call("list_pending_approvals", { documentId: this.documentId });
      timed = requests.filter(({ expires_at: at }) => at !== null);
      return timed.length === 0;
    };
    await this.comes(isOver, () => `the end of ${JSON.stringify(timed.map(({ request_id, expires_at, paused }) => ({ request_id, expires_at, paused })))}`);
  }

  /** Each run has ended, or waits for people who have all the time there is. */
  async runsAreOver() {
    for (const { token, sessionId, run } of this.runsOf) {
      let state;
      const isOver = async () => {
        state = await this.get(`sessions/${sessionId}/runs/${run}`, token);
        return state.finished_at !== null || state.waiting.length > 0;
      };
      await this.comes(isOver, () => `the end of ${JSON.stringify(state)}`);
    }
  }

  async comes(holds, what) {
    for (const until = Date.now() + 30_000; !(await holds()); await pause(30)) must(Date.now() < until, () => `waited in vain for ${what()}`);
  }

  async get(path, token = this.desk.tokens[0]) {
    const answer = await fetch(`${this.desk.url}/api/v1/${path}`, { headers: { authorization: `Bearer ${token}` } });
    must(answer.ok, () => `${path} was answered ${answer.status}`);
    return answer.json();
  }

  /** The whole log of the document, oldest first. */
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
    const { ledger, documentId, docket, hearing } = this, text = ledger.doc.toString();
    const whole = await this.get(`documents/${documentId}`);
    must(whole.text === text && whole.version === ledger.version, () => `REST has ${JSON.stringify(whole.text)}, the log says ${JSON.stringify(text)}`);
    const replay = await this.watch();
    await replay.join(0);
    must(replay.at === ledger.version, () => `the log from its beginning ends at ${replay.at}, not at ${ledger.version}`);
    replay.close();
    const lines = await this.auditLog(), made = lines.filter(({ action }) => action === "request.create");
    const requests = [];
    for (const { request } of made) requests.push(await this.get(`requests/${request}`));
    docket.settle({ lines, requests, takes: hearing.takes });
    for (const line of [...this.windows, ...this.seats.map(({ line }) => line)]) line.close();
  }
}
