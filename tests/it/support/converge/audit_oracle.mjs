// An oracle for decisions. It replays the audit log, which has everything that was committed in one
// order, and checks each line, all replies, and the final state of all requests against it.
import { ensure } from "./reference_document.mjs";

const OPEN = ["pending", "conflict"];
const UNDECIDED = ["open", "obsolete"];

/** Counts the people whose votes are for the same text. */
const agreeing = (votes, { text }) => new Set(votes.filter((vote) => vote.text === text).map(({ by }) => by)).size;

/** The decisions and actions that people sent, and the checks against the audit log. */
export class AuditOracle {
  constructor(count) {
    this.count = count;
    /** The role of each person, by identifier. */
    this.people = new Map();
    /** Decisions by their note. */
    this.sent = new Map();
    /** All other actions, by their name in the log. */
    this.actions = [];
    /** Periods in which someone certainly had a request focused. */
    this.focusPeriods = [];
  }

  /** Records a decision that is sent. Returns a unique note for it. */
  recordDecision(by, decision) {
    const note = `#${this.sent.size + 1}`;
    this.sent.set(note, { by, decision, reply: null, line: null });
    return note;
  }

  /** Records an action that is sent. The reply is added later. */
  recordAction(by, action, request) {
    const attempt = { by, action, request, reply: null };
    this.actions.push(attempt);
    return attempt;
  }

  /**
   * Checks everything at the end. `lines`: the log, oldest first. `requests`: their final state in
   * REST. `appliedUpdates`: the updates that applied hunks, as a replica received them.
   */
  check({ lines, requests, appliedUpdates }) {
    this.requests = new Map(requests.map((finalRequest) => [finalRequest.request_id, { finalRequest, hunks: new Map(), lines: [], extensionMs: 0 }]));
    this.rules = new Map();
    this.policy = "any";
    this.timeoutMs = null;
    for (const line of lines) {
      const it = line.request && this.requests.get(line.request);
      this.context = `${line.action} by ${line.actor.name} at ${line.at} (line ${line.seq})${line.request ? ` of ${line.request}` : ""}`;
      it?.lines.push(line);
      this[line.action]?.(line, it);
    }
    this.checkReplies();
    this.checkFinalStates();
    appliedUpdates.forEach((applied) => this.checkAppliedText(applied));
  }

  ensure(condition, what) {
    ensure(condition, () => `${this.context}: ${typeof what === "function" ? what() : what}`);
  }

  mayDecide(by, { finalRequest }) {
    const role = this.people.get(by);
    if (role === "viewer" || role === undefined) return false;
    return !(this.policy === "owner" && role !== "owner") && !(this.policy === "not_requester" && by === finalRequest.author.id);
  }

  get votesNeeded() {
    return this.policy === "two" ? 2 : 1;
  }

  "document.configure"({ actor, detail: { own } }) {
    this.ensure(this.people.get(actor.id) === "owner", "only owners change settings");
    const before = this.policy;
    this.policy = own.policy ?? "any";
    this.timeoutMs = own.timeout_ms;
    // If one vote is enough from now on, earlier votes do not count.
    const isMilder = this.policy !== before && this.votesNeeded === 1;
    for (const it of this.requests.values()) {
      // Votes of people who may no longer decide are removed.
      for (const hunk of it.hunks.values()) hunk.votes = isMilder ? [] : hunk.votes.filter(({ by }) => this.mayDecide(by, it));
    }
  }

  "request.create"({ at, actor }, it) {
    const { finalRequest } = it;
    this.ensure(actor.id === finalRequest.author.id, "it was requested by somebody else");
    const denies = this.ruleInForce("deny", finalRequest);
    this.ensure(!denies, () => `it was proposed although ${denies.id} denies it`);
    Object.assign(it, { isOpen: true, createdMs: Date.parse(at), timeoutMs: this.timeoutMs, askRule: this.ruleInForce("ask", finalRequest) });
    for (const { id } of finalRequest.hunks) it.hunks.set(id, { status: "open", votes: [] });
  }

  "request.decide"(line, it) {
    const { actor, detail: { decision, decided, status } } = line;
    this.ensure(it.isOpen, "it had ended");
    this.ensure(this.mayDecide(actor.id, it), `${this.people.get(actor.id)} may not decide under ${this.policy}${actor.id === it.finalRequest.author.id ? " what they requested" : ""}`);
    if (decision.rule) this.checkRulesDecision(line, it);
    else this.checkPersonsDecision(line);
    const named = new Map((decision.hunks ?? []).map((verdict) => [verdict.id, verdict]));
    const approves = decision.verdict === "approve";
    const rest = decision.finish ?? (decision.hunks ? null : approves ? "accept" : "reject");
    for (const id of decided) this.ensure(named.has(id) || rest, `${id} was decided without a verdict`);
    for (const [id, hunk] of it.hunks) {
      const verdict = named.get(id) ?? (rest && hunk.status === "open" && { choice: rest, isOfAll: true });
      if (verdict) this.applyVerdict(id, hunk, verdict, line, it);
    }
    it.isOpen = status === "pending";
  }

  /** Applies the verdict of a decision on one hunk. */
  applyVerdict(id, hunk, { choice, text, force, isOfAll }, { at, actor, detail: { decision, decided } }, it) {
    const isDecided = decided.includes(id);
    this.ensure(hunk.status === "open", () => `${id} is ${hunk.status} already, since ${hunk.at} by ${hunk.by}`);
    if (choice === "reject") {
      this.ensure(isDecided || isOfAll, `${id} was not rejected`);
      if (isDecided) Object.assign(hunk, { status: "rejected", by: actor.id, at });
      return;
    }
    const editedText = text?.replace(/\r\n?/g, "\n"), parts = it.finalRequest.hunks.find((known) => known.id === id)?.parts ?? [];
    // The proposed text, sent back as an edit, is no edit.
    const isOwn = parts.length === 1 && parts[0].insert === editedText;
    const vote = { by: actor.id, rule: decision.rule, text: isOwn ? undefined : editedText, isPlain: !force && !isOfAll };
    // "All" are the hunks without a conflict at that time. Only the decision says whether this was
    // one.
    if (!isOfAll || isDecided || this.votesNeeded > 1) hunk.votes = [...hunk.votes.filter(({ by }) => by !== actor.id), vote];
    const votes = hunk.votes.filter(({ by, rule }) => this.mayDecide(by, it) && !(rule && this.rules.get(rule).isOver));
    if (isDecided) {
      const denies = this.ruleInForce("deny", it.finalRequest);
      this.ensure(agreeing(votes, vote) >= this.votesNeeded, () => `${id} was accepted by ${agreeing(votes, vote)}, needed are ${this.votesNeeded}: ${JSON.stringify(hunk.votes)}`);
      this.ensure(!denies, () => `${id} was accepted although ${denies.id} denies it`);
      Object.assign(hunk, { status: "accepted", by: actor.id, at, verdict: { text: vote.text, force }, rule: decision.rule ?? null });
    } else if (!isOfAll) {
      const plain = votes.filter(({ isPlain }) => isPlain);
      this.ensure(!vote.isPlain || agreeing(plain, vote) < this.votesNeeded, () => `${id} was not accepted, although ${this.votesNeeded} agree: ${JSON.stringify(plain)}`);
      this.count.voted++;
    }
  }

  checkPersonsDecision(line) {
    const { actor, request, detail: { decision } } = line;
    const sent = this.sent.get(decision.note);
    this.ensure(sent && sent.by === actor.id && sent.decision.request_id === request, () => `this decision was not sent: ${JSON.stringify(decision)}`);
    this.ensure(!sent.line, () => `${decision.note} was applied twice, first in line ${sent.line.seq}`);
    this.ensure(sent.reply?.ok !== false, () => `${decision.note} was refused: ${JSON.stringify(sent.reply.error)}`);
    this.ensure(!sent.reply?.ok || sent.reply.status === line.detail.status, () => `answered was ${sent.reply.status}, recorded is ${line.detail.status}`);
    sent.line = line;
  }

  checkRulesDecision({ actor, detail: { decision } }, it) {
    const rule = this.rules.get(decision.rule), { finalRequest } = it;
    this.ensure(rule && !rule.isOver, `${decision.rule} is no rule in force`);
    this.ensure(actor.id === rule.by.user, `${rule.id} was made by ${rule.by.user}`);
    this.ensure(!it.wasReopened, "a rule decided a reopened request");
    this.ensure(!it.askRule, () => `${it.askRule?.id} requires that people are asked`);
    const covers = (rule.effect ?? "allow") === "allow" && rule.tool === finalRequest.tool_name
      && (rule.scope !== "session" || rule.session === finalRequest.session_id) && (rule.max_units === undefined || finalRequest.units <= rule.max_units);
    this.ensure(covers, () => `${JSON.stringify(rule)} does not cover ${finalRequest.units} units of ${finalRequest.tool_name}`);
    this.count.ruleDecisions++;
  }

  /** Returns a rule in force with this effect on the request. */
  ruleInForce(effect, { tool_name: tool, units }) {
    const applies = (rule) => !rule.isOver && rule.effect === effect && ["*", tool].includes(rule.tool) && !(units <= rule.over);
    return [...this.rules.values()].find(applies);
  }

  /** Checks that only votes of people who may no longer decide, or of ended rules, are removed. */
  "request.recount"({ detail: { voters = [], rules = [] } }, it) {
    for (const by of voters) this.ensure(!this.mayDecide(by, it), `the vote of ${by} was removed without reason`);
    for (const rule of rules) this.ensure(this.rules.get(rule).isOver, `the votes of ${rule} were removed, and it is in force`);
    for (const hunk of it.hunks.values()) hunk.votes = hunk.votes.filter(({ by, rule }) => !voters.includes(by) && !rules.includes(rule));
  }

  /** Checks an undo of a hunk that is open again: it removes the person's own vote. */
  "request.unvote"({ actor, detail: { hunks } }, it) {
    for (const id of hunks) {
      const hunk = it.hunks.get(id);
      this.ensure(hunk.votes.some(({ by }) => by === actor.id), `${actor.name} had no vote on ${id}`);
      hunk.votes = hunk.votes.filter(({ by }) => by !== actor.id);
    }
    this.count.unvoted = (this.count.unvoted ?? 0) + 1;
  }

  "request.undo"({ actor, detail: { hunks } }, it) {
    this.ensure(this.mayDecide(actor.id, it), `${actor.name} may not undo this under ${this.policy}`);
    const back = hunks.filter((id) => it.hunks.get(id).status === "accepted");
    this.ensure(back.length > 0, "nothing was accepted");
    for (const id of hunks) this.ensure(["accepted", ...UNDECIDED].includes(it.hunks.get(id).status), `${id} was ${it.hunks.get(id).status}`);
    this.reopenHunks(back, it);
  }

  "request.reopen"({ actor, detail: { hunks } }, it) {
    this.ensure(this.mayDecide(actor.id, it), `${actor.name} may not reopen this under ${this.policy}`);
    for (const id of hunks) this.ensure(it.hunks.get(id).status !== "accepted", `${id} was accepted`);
    this.reopenHunks(hunks, it);
  }

  reopenHunks(hunks, it) {
    for (const id of hunks) Object.assign(it.hunks.get(id), { status: "open", votes: [], by: null, at: null });
    // No call waits for an ended request, so it has no deadline.
    if (!it.isOpen) it.hasNoDeadline = true;
    Object.assign(it, { isOpen: true, wasReopened: true });
  }

  "request.extend"({ detail: { by_ms: byMs } }, it) {
    this.ensure(it.isOpen, "it had ended");
    it.extensionMs += byMs;
  }

  "request.expire"(line, it) {
    const atMs = Date.parse(line.at), { createdMs, timeoutMs, extensionMs } = it;
    this.ensure(!it.hasNoDeadline, "it had no deadline");
    this.ensure(atMs >= createdMs + timeoutMs + extensionMs, `its time was ${timeoutMs} ms, extended by ${extensionMs} ms`);
    const focused = this.focusPeriods.find(({ request, from, to }) => request === line.request && from <= atMs && atMs <= to);
    this.ensure(!focused, "someone had it focused");
    this.endRequest(line, it, "expired");
  }

  "request.withdraw"(line, it) {
    this.endRequest(line, it, "obsolete");
  }

  endRequest(line, it, status) {
    this.ensure(it.isOpen, "it had ended");
    for (const id of line.detail.hunks) {
      const hunk = it.hunks.get(id);
      this.ensure(UNDECIDED.includes(hunk.status), `${id} was ${hunk.status}`);
      Object.assign(hunk, { status, by: null, at: line.at });
    }
    it.isOpen = false;
  }

  "rule.create"({ actor, detail }) {
    const isOwners = (detail.effect ?? "allow") !== "allow" || !detail.request;
    this.ensure(!isOwners || this.people.get(actor.id) === "owner", "only owners add such rules");
    this.rules.set(detail.id, { ...detail });
  }

  "rule.revoke"({ detail: { rule } }) {
    this.rules.get(rule).isOver = true;
  }

  "rule.expire"(line) {
    this["rule.revoke"](line);
  }

  /** Checks that acknowledged commands are in the log, and refusals are correct. */
  checkReplies() {
    for (const [note, { by, decision, reply, line }] of this.sent) {
      this.context = `decision ${note} of ${this.people.get(by)} on ${decision.request_id}`;
      this.ensure(!reply?.ok || line, () => `it was acknowledged (${reply.status}) and is not recorded`);
      if (reply?.ok === false) this.checkRefusal(reply.error, decision.request_id, by);
    }
    for (const { by, action, request, reply } of this.actions) {
      const lines = this.requests.get(request)?.lines ?? [], actions = action === "request.undo" ? [action, "request.unvote"] : [action];
      const done = lines.filter((line) => actions.includes(line.action) && line.actor.id === by);
      const sameAttempts = this.actions.filter((attempt) => attempt.by === by && attempt.action === action && attempt.request === request);
      this.context = `${action} of ${this.people.get(by)} on ${request}`;
      this.ensure(done.length >= sameAttempts.filter((attempt) => attempt.reply?.ok).length, () => `it was acknowledged and is not recorded: ${JSON.stringify(lines)}`);
      this.ensure(done.length <= sameAttempts.filter((attempt) => attempt.reply?.ok !== false).length, () => `it was refused and recorded: ${JSON.stringify(reply)}`);
    }
  }

  checkRefusal({ code, details }, request, by) {
    this.count[code] = (this.count[code] ?? 0) + 1;
    const it = this.requests.get(request);
    if (code === "expired") this.ensure(it?.lines.some(({ action }) => action === "request.expire"), "it never expired");
    if (code !== "already_resolved") return;
    const { by: who, at, hunk } = details;
    const linesAtThatTime = it.lines.filter((line) => Date.parse(line.at) === Date.parse(at));
    const isFirst = who
      ? linesAtThatTime.some((line) => line.actor.id === who.id && (!hunk || JSON.stringify(line.detail).includes(hunk.id)))
      // It expired, or people deleted the text, which has no line.
      : !linesAtThatTime.some(({ action }) => ["request.decide", "request.withdraw"].includes(action));
    this.ensure(isFirst, () => `the first was not ${JSON.stringify(details)} but one of ${JSON.stringify(it.lines.map((line) => [line.action, line.actor.id, line.at]))}`);
  }

  /** Checks that the final state of each request is that of the log. */
  checkFinalStates() {
    for (const [id, it] of this.requests) {
      const { finalRequest, hunks, isOpen } = it;
      this.context = `request ${id}`;
      // If people delete all the text it is about, it ends without a line.
      const isGone = finalRequest.hunks.every(({ id, status }) => status === "obsolete" || hunks.get(id).status !== "open");
      this.ensure((finalRequest.status === "pending") === isOpen || (isOpen && isGone), `it is ${finalRequest.status}, by the log it is ${isOpen ? "open" : "over"}`);
      for (const { id, status, decided } of finalRequest.hunks) {
        const known = hunks.get(id), fits = known.status === "open" ? [...OPEN, "obsolete"] : [known.status];
        this.ensure(fits.includes(status), `${id} is ${status}, by the log it is ${known.status}`);
        if (["accepted", "rejected"].includes(status)) this.ensure(decided?.by.id === known.by, () => `${id} was decided by ${decided?.by.id}, by the log by ${known.by}`);
      }
      const expiresMs = finalRequest.expires_at && !finalRequest.paused && Date.parse(finalRequest.expires_at);
      const lateDecision = expiresMs && it.lines.find((line) => line.action === "request.decide" && Date.parse(line.at) >= expiresMs);
      this.ensure(!lateDecision, () => `it was decided at ${lateDecision.at}, it expired at ${finalRequest.expires_at}`);
    }
  }

  /** Checks that an applied update is what was previewed and decided. */
  checkAppliedText(applied) {
    const { request, drop, version, after } = applied, same = JSON.stringify(drop);
    const isIt = ({ action, detail }) => action === "request.decide" && JSON.stringify(detail.decided) === same;
    const texts = this.requests.get(request).lines.filter(isIt).map(({ detail: { decision } }) => this.expectedText(applied, decision));
    this.context = `version ${version} of ${request}`;
    this.ensure(texts.some((text) => text === null || text === after.toString()), () => `applied was ${JSON.stringify(after.toString())}, by the decisions on ${same} it had to be ${JSON.stringify(texts)}`);
    this.count.previewsChecked++;
  }

  /**
   * Returns the text that a decision leads to; `null` if it depends on what only the server knows.
   */
  expectedText({ drop, hunks, doc }, { verdict, hunks: verdicts, finish }) {
    const named = new Map((verdicts ?? []).map((verdict) => [verdict.id, verdict]));
    const choice = (id) => named.get(id)?.choice ?? finish ?? (verdict === "approve" ? "accept" : "reject");
    const edits = [];
    for (const { id, status, parts } of hunks.filter(({ id }) => drop.includes(id) && choice(id) === "accept")) {
      const { text, force, seen } = named.get(id) ?? {}, [from, to] = [parts[0].from, parts.at(-1).to];
      if (status === "conflict") {
        // A forced hunk overwrites the current text, which must be the one that was seen.
        return force && doc.sliceString(from, to) === seen ? null : `${id} was in conflict, and was not forced over ${JSON.stringify(doc.sliceString(from, to))}`;
      }
      if (typeof text === "string") edits.push({ from, to, insert: text.replace(/\r\n?/g, "\n") });
      else edits.push(...parts);
    }
    // An insertion inside the range of another hunk is moved.
    const isInside = ({ from, to }) => from === to && hunks.some(({ parts }) => parts.some((part) => part.from < from && from < part.to));
    if (edits.some(isInside)) return null;
    const order = edits.map((edit, at) => ({ ...edit, at })).sort((a, b) => b.from - a.from || b.to - a.to || b.at - a.at);
    return order.reduce((text, { from, to, insert }) => text.slice(0, from) + insert + text.slice(to), doc.toString());
  }
}
