// What people did to requests and what they were answered, held against the audit log, which has
// everything that was kept in one order. It is read from its beginning: from what each line says
// the next ones must follow.
import { must } from "./ledger.mjs";

const OPEN = ["pending", "conflict"];
const UNDECIDED = ["open", "obsolete"];

/** Votes of different people that are for the same text. */
const agreeing = (votes, { text }) => new Set(votes.filter((vote) => vote.text === text).map(({ by }) => by)).size;

export class Docket {
  constructor(count) {
    this.count = count;
    /** The role of each person, by their id. */
    this.people = new Map();
    /** Decisions by the note they carry. */
    this.sent = new Map();
    /** Everything else that was asked for, by what it is called in the log. */
    this.asked = [];
    /** When somebody certainly looked at a request. */
    this.looks = [];
  }

  /** A decision on its way; a note that tells it from all others. */
  sends(by, decision) {
    const note = `#${this.sent.size + 1}`;
    this.sent.set(note, { by, decision, answer: null, line: null });
    return note;
  }

  /** Something else on its way; to be given the answer. */
  asks(by, action, request) {
    const wish = { by, action, request, answer: null };
    this.asked.push(wish);
    return wish;
  }

  /**
   * `lines`: the log, oldest first. `requests`: as REST has them in the end. `takes`: what was told
   * of them as they were applied.
   */
  settle({ lines, requests, takes }) {
    this.requests = new Map(requests.map((card) => [card.request_id, { card, hunks: new Map(), lines: [], moreMs: 0 }]));
    this.rules = new Map();
    this.policy = "any";
    this.timeoutMs = null;
    for (const line of lines) {
      const it = line.request && this.requests.get(line.request);
      this.at = `${line.action} by ${line.actor.name} at ${line.at} (line ${line.seq})${line.request ? ` of ${line.request}` : ""}`;
      it?.lines.push(line);
      this[line.action]?.(line, it);
    }
    this.wasAnsweredTruly();
    this.agrees();
    takes.forEach((take) => this.wasShown(take));
  }

  holds(condition, what) {
    must(condition, () => `${this.at}: ${typeof what === "function" ? what() : what}`);
  }

  admits(by, { card }) {
    const role = this.people.get(by);
    if (role === "viewer" || role === undefined) return false;
    return !(this.policy === "owner" && role !== "owner") && !(this.policy === "not_requester" && by === card.author.id);
  }

  get need() {
    return this.policy === "two" ? 2 : 1;
  }

  "document.configure"({ actor, detail: { own } }) {
    this.holds(this.people.get(actor.id) === "owner", "only owners change settings");
    const before = this.policy;
    this.policy = own.policy ?? "any";
    this.timeoutMs = own.timeout_ms;
    // Where one vote is enough from now on, nobody meant theirs to be that one.
    const isMilder = this.policy !== before && this.need === 1;
    for (const it of this.requests.values()) {
      // Whoever may not decide any more has no vote any more.
      for (const hunk of it.hunks.values()) hunk.votes = isMilder ? [] : hunk.votes.filter(({ by }) => this.admits(by, it));
    }
  }

  "request.create"({ at, actor }, it) {
    const { card } = it;
    this.holds(actor.id === card.author.id, "it was asked for by somebody else");
    const denies = this.inForce("deny", card);
    this.holds(!denies, () => `it was proposed although ${denies.id} denies it`);
    Object.assign(it, { isOpen: true, createdMs: Date.parse(at), timeoutMs: this.timeoutMs, asks: this.inForce("ask", card) });
    for (const { id } of card.hunks) it.hunks.set(id, { status: "open", votes: [] });
  }

  "request.decide"(line, it) {
    const { actor, detail: { decision, decided, status } } = line;
    this.holds(it.isOpen, "it had ended");
    this.holds(this.admits(actor.id, it), `${this.people.get(actor.id)} may not decide under ${this.policy}${actor.id === it.card.author.id ? " what they asked for" : ""}`);
    if (decision.rule) this.byRule(line, it);
    else this.byPerson(line);
    const named = new Map((decision.hunks ?? []).map((verdict) => [verdict.id, verdict]));
    const approves = decision.verdict === "approve";
    const rest = decision.finish ?? (decision.hunks ? null : approves ? "accept" : "reject");
    for (const id of decided) this.holds(named.has(id) || rest, `${id} was decided and nobody had said so`);
    for (const [id, hunk] of it.hunks) {
      const verdict = named.get(id) ?? (rest && hunk.status === "open" && { choice: rest, isOfAll: true });
      if (verdict) this.decides(id, hunk, verdict, line, it);
    }
    it.isOpen = status === "pending";
  }

  /** What one decision says of one change. */
  decides(id, hunk, { choice, text, force, isOfAll }, { at, actor, detail: { decision, decided } }, it) {
    const isDecided = decided.includes(id);
    this.holds(hunk.status === "open", () => `${id} is ${hunk.status} already, since ${hunk.at} by ${hunk.by}`);
    if (choice === "reject") {
      this.holds(isDecided || isOfAll, `${id} was not rejected`);
      if (isDecided) Object.assign(hunk, { status: "rejected", by: actor.id, at });
      return;
    }
    const words = text?.replace(/\r\n?/g, "\n"), parts = it.card.hunks.find((known) => known.id === id)?.parts ?? [];
    // The model's own words, sent back, are no others.
    const isOwn = parts.length === 1 && parts[0].insert === words;
    const vote = { by: actor.id, text: isOwn ? undefined : words, isPlain: !force && !isOfAll };
    // "All" are those that were not in conflict just then; whether this was one, only the decision
    // says.
    if (!isOfAll || isDecided || this.need > 1) hunk.votes = [...hunk.votes.filter(({ by }) => by !== actor.id), vote];
    const votes = hunk.votes.filter(({ by }) => this.admits(by, it));
    if (isDecided) {
      const denies = this.inForce("deny", it.card);
      this.holds(agreeing(votes, vote) >= this.need, () => `${id} was accepted by ${agreeing(votes, vote)}, needed are ${this.need}: ${JSON.stringify(hunk.votes)}`);
      this.holds(!denies, () => `${id} was accepted although ${denies.id} denies it`);
      Object.assign(hunk, { status: "accepted", by: actor.id, at, verdict: { text: vote.text, force }, rule: decision.rule ?? null });
    } else if (!isOfAll) {
      const plain = votes.filter(({ isPlain }) => isPlain);
      this.holds(!vote.isPlain || agreeing(plain, vote) < this.need, () => `${id} was not accepted, although ${this.need} agree: ${JSON.stringify(plain)}`);
      this.count.voted++;
    }
  }

  byPerson(line) {
    const { actor, request, detail: { decision } } = line;
    const sent = this.sent.get(decision.note);
    this.holds(sent && sent.by === actor.id && sent.decision.request_id === request, () => `nobody sent this: ${JSON.stringify(decision)}`);
    this.holds(!sent.line, () => `${decision.note} was taken twice, first in line ${sent.line.seq}`);
    this.holds(sent.answer?.ok !== false, () => `${decision.note} was refused: ${JSON.stringify(sent.answer.error)}`);
    this.holds(!sent.answer?.ok || sent.answer.status === line.detail.status, () => `answered was ${sent.answer.status}, kept is ${line.detail.status}`);
    sent.line = line;
  }

  byRule({ actor, detail: { decision } }, it) {
    const rule = this.rules.get(decision.rule), { card } = it;
    this.holds(rule && !rule.isOver, `${decision.rule} is no rule in force`);
    this.holds(actor.id === rule.by.user, `${rule.id} was made by ${rule.by.user}`);
    this.holds(!it.wasOpenAgain, "a rule decided what people think about again");
    this.holds(!it.asks, () => `${it.asks?.id} wants people to be asked`);
    const covers = (rule.effect ?? "allow") === "allow" && rule.tool === card.tool_name
      && (rule.scope !== "session" || rule.session === card.session_id) && (rule.max_units === undefined || card.units <= rule.max_units);
    this.holds(covers, () => `${JSON.stringify(rule)} does not cover ${card.units} units of ${card.tool_name}`);
    this.count.ruled++;
  }

  /** A rule that forbids a request or wants people to be asked. */
  inForce(effect, { tool_name: tool, units }) {
    const speaks = (rule) => !rule.isOver && rule.effect === effect && ["*", tool].includes(rule.tool) && !(units <= rule.over);
    return [...this.rules.values()].find(speaks);
  }

  "request.recount"({ detail: { voters } }, it) {
    for (const by of voters) this.holds(!this.admits(by, it), `the vote of ${by} was taken away`);
    for (const hunk of it.hunks.values()) hunk.votes = hunk.votes.filter(({ by }) => !voters.includes(by));
  }

  /** An undo that comes after the change is open again takes the person's own vote back. */
  "request.unvote"({ actor, detail: { hunks } }, it) {
    for (const id of hunks) {
      const hunk = it.hunks.get(id);
      this.holds(hunk.votes.some(({ by }) => by === actor.id), `${actor.name} had no vote on ${id}`);
      hunk.votes = hunk.votes.filter(({ by }) => by !== actor.id);
    }
    this.count.unvoted = (this.count.unvoted ?? 0) + 1;
  }

  "request.undo"({ actor, detail: { hunks } }, it) {
    this.holds(this.admits(actor.id, it), `${actor.name} may not take this back under ${this.policy}`);
    const back = hunks.filter((id) => it.hunks.get(id).status === "accepted");
    this.holds(back.length > 0, "nothing was accepted");
    for (const id of hunks) this.holds(["accepted", ...UNDECIDED].includes(it.hunks.get(id).status), `${id} was ${it.hunks.get(id).status}`);
    this.opensAgain(back, it);
  }

  "request.reopen"({ actor, detail: { hunks } }, it) {
    this.holds(this.admits(actor.id, it), `${actor.name} may not propose this again under ${this.policy}`);
    for (const id of hunks) this.holds(it.hunks.get(id).status !== "accepted", `${id} was accepted`);
    this.opensAgain(hunks, it);
  }

  opensAgain(hunks, it) {
    for (const id of hunks) Object.assign(it.hunks.get(id), { status: "open", votes: [], by: null, at: null });
    // Nobody waits for what had ended, so it has no time to run out of.
    if (!it.isOpen) it.isTimeless = true;
    Object.assign(it, { isOpen: true, wasOpenAgain: true });
  }

  "request.extend"({ detail: { by_ms: byMs } }, it) {
    this.holds(it.isOpen, "it had ended");
    it.moreMs += byMs;
  }

  "request.expire"(line, it) {
    const atMs = Date.parse(line.at), { createdMs, timeoutMs, moreMs } = it;
    this.holds(!it.isTimeless, "nobody waited for it");
    this.holds(atMs >= createdMs + timeoutMs + moreMs, `its time was ${timeoutMs} ms and ${moreMs} ms more`);
    const looked = this.looks.find(({ request, from, to }) => request === line.request && from <= atMs && atMs <= to);
    this.holds(!looked, "somebody looked at it");
    this.ends(line, it, "expired");
  }

  "request.withdraw"(line, it) {
    this.ends(line, it, "obsolete");
  }

  ends(line, it, status) {
    this.holds(it.isOpen, "it had ended");
    for (const id of line.detail.hunks) {
      const hunk = it.hunks.get(id);
      this.holds(UNDECIDED.includes(hunk.status), `${id} was ${hunk.status}`);
      Object.assign(hunk, { status, by: null, at: line.at });
    }
    it.isOpen = false;
  }

  "rule.create"({ actor, detail }) {
    const isOwners = (detail.effect ?? "allow") !== "allow" || !detail.request;
    this.holds(!isOwners || this.people.get(actor.id) === "owner", "only owners make such rules");
    this.rules.set(detail.id, { ...detail });
  }

  "rule.revoke"({ detail: { rule } }) {
    this.rules.get(rule).isOver = true;
  }

  "rule.expire"(line) {
    this["rule.revoke"](line);
  }

  /** What was acknowledged is in the log, and what was refused says rightly why. */
  wasAnsweredTruly() {
    for (const [note, { by, decision, answer, line }] of this.sent) {
      this.at = `decision ${note} of ${this.people.get(by)} on ${decision.request_id}`;
      this.holds(!answer?.ok || line, () => `it was acknowledged (${answer.status}) and is not kept`);
      if (answer?.ok === false) this.wasRefusedTruly(answer.error, decision.request_id, by);
    }
    for (const { by, action, request, answer } of this.asked) {
      const lines = this.requests.get(request)?.lines ?? [], actions = action === "request.undo" ? [action, "request.unvote"] : [action];
      const done = lines.filter((line) => actions.includes(line.action) && line.actor.id === by);
      const alike = this.asked.filter((wish) => wish.by === by && wish.action === action && wish.request === request);
      this.at = `${action} of ${this.people.get(by)} on ${request}`;
      this.holds(done.length >= alike.filter((wish) => wish.answer?.ok).length, () => `it was acknowledged and is not kept: ${JSON.stringify(lines)}`);
      this.holds(done.length <= alike.filter((wish) => wish.answer?.ok !== false).length, () => `it was refused and done: ${JSON.stringify(answer)}`);
    }
  }

  wasRefusedTruly({ code, details }, request, by) {
    this.count[code] = (this.count[code] ?? 0) + 1;
    const it = this.requests.get(request);
    if (code === "expired") this.holds(it?.lines.some(({ action }) => action === "request.expire"), "it never expired");
    if (code !== "already_resolved") return;
    const { by: who, at, hunk } = details;
    const then = it.lines.filter((line) => Date.parse(line.at) === Date.parse(at));
    const isFirst = who
      ? then.some((line) => line.actor.id === who.id && (!hunk || JSON.stringify(line.detail).includes(hunk.id)))
      // Time ran out, or people deleted the words, of which there is no line.
      : !then.some(({ action }) => ["request.decide", "request.withdraw"].includes(action));
    this.holds(isFirst, () => `the first was not ${JSON.stringify(details)} but one of ${JSON.stringify(it.lines.map((line) => [line.action, line.actor.id, line.at]))}`);
  }

  /** REST says of every request what the log comes to. */
  agrees() {
    for (const [id, it] of this.requests) {
      const { card, hunks, isOpen } = it;
      this.at = `request ${id}`;
      // Where people delete all the words it is about, it is over without a line.
      const isGone = card.hunks.every(({ id, status }) => status === "obsolete" || hunks.get(id).status !== "open");
      this.holds((card.status === "pending") === isOpen || (isOpen && isGone), `it is ${card.status}, by the log it is ${isOpen ? "open" : "over"}`);
      for (const { id, status, decided } of card.hunks) {
        const known = hunks.get(id), fits = known.status === "open" ? [...OPEN, "obsolete"] : [known.status];
        this.holds(fits.includes(status), `${id} is ${status}, by the log it is ${known.status}`);
        if (["accepted", "rejected"].includes(status)) this.holds(decided?.by.id === known.by, () => `${id} was decided by ${decided?.by.id}, by the log by ${known.by}`);
      }
      const expiresMs = card.expires_at && !card.paused && Date.parse(card.expires_at);
      const late = expiresMs && it.lines.find((line) => line.action === "request.decide" && Date.parse(line.at) >= expiresMs);
      this.holds(!late, () => `it was decided at ${late.at}, its time was over at ${card.expires_at}`);
    }
  }

  /** What came into the text is what people saw and somebody decided. */
  wasShown(take) {
    const { request, drop, version, after } = take, same = JSON.stringify(drop);
    const isIt = ({ action, detail }) => action === "request.decide" && JSON.stringify(detail.decided) === same;
    const texts = this.requests.get(request).lines.filter(isIt).map(({ detail: { decision } }) => this.shown(take, decision));
    this.at = `version ${version} of ${request}`;
    this.holds(texts.some((text) => text === null || text === after.toString()), () => `applied was ${JSON.stringify(after.toString())}, by what people decided about ${same} it had to be ${JSON.stringify(texts)}`);
    this.count.shown++;
  }

  /**
   * The text as a decision had to make it; `null` if that depends on what only the server knows.
   */
  shown({ drop, hunks, doc }, { verdict, hunks: verdicts, finish }) {
    const named = new Map((verdicts ?? []).map((verdict) => [verdict.id, verdict]));
    const choice = (id) => named.get(id)?.choice ?? finish ?? (verdict === "approve" ? "accept" : "reject");
    const edits = [];
    for (const { id, status, parts } of hunks.filter(({ id }) => drop.includes(id) && choice(id) === "accept")) {
      const { text, force, seen } = named.get(id) ?? {}, [from, to] = [parts[0].from, parts.at(-1).to];
      if (status === "conflict") {
        // What is forced goes over whatever stands there; that it was seen is what counts.
        return force && doc.sliceString(from, to) === seen ? null : `${id} was in conflict, and nobody forced it over ${JSON.stringify(doc.sliceString(from, to))}`;
      }
      if (typeof text === "string") edits.push({ from, to, insert: text.replace(/\r\n?/g, "\n") });
      else edits.push(...parts);
    }
    // Words to be added are moved beside words that another change would replace.
    const isInside = ({ from, to }) => from === to && hunks.some(({ parts }) => parts.some((part) => part.from < from && from < part.to));
    if (edits.some(isInside)) return null;
    const order = edits.map((edit, at) => ({ ...edit, at })).sort((a, b) => b.from - a.from || b.to - a.to || b.at - a.at);
    return order.reduce((text, { from, to, insert }) => text.slice(0, from) + insert + text.slice(to), doc.toString());
  }
}
