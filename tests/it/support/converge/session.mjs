// One session: some editors, a document, and everything that can go wrong between them, as the seed
// has it.
import { setImmediate as turn, setTimeout as pause } from "node:timers/promises";
import { FOUND } from "./cases.mjs";
import { Dice } from "./dice.mjs";
import { must } from "./ledger.mjs";
import { Stage } from "./stage.mjs";

const STEPS = 120;

/** What a seed is about. */
export function kind(seed) {
  const dice = new Dice(seed ^ 0x5eed);
  return {
    /** The server is killed in the middle. */
    cut: dice.chance(0.1),
    /** Changes of a model are pending while people type. */
    reviewed: dice.chance(0.3),
    /**
     * Nobody waits for the server: pushes race. Otherwise the seed alone decides what happens when,
     * but for a killed server.
     */
    racing: dice.chance(0.5),
    people: 2 + dice.below(5),
    /** What was accepted is taken back now and then. */
    undoes: dice.chance(0.5) && !(seed in FOUND),
  };
}

export class Session extends Stage {
  /** `kind` is the seed's own unless it is given. */
  constructor({ seed, kind: given, ...place }) {
    super({ seed, kind: given ?? kind(seed), ...place });
  }

  get steps() {
    return STEPS;
  }

  async play() {
    const { steps } = this;
    await this.begin(this.scene());
    const cuts = Array.from({ length: this.kind.cut ? (this.kind.cuts ?? 1 + this.dice.below(3)) : 0 }, () => 20 + this.dice.below(steps - 30));
    for (let step = 0; step < steps; step++) {
      if (cuts.includes(step)) await this.cut();
      await this.step();
    }
    await this.drain();
    await this.check();
  }

  scene() {
    const { dice, kind, desk } = this;
    this.proposal = dice.pick(desk.proposals);
    const text = kind.reviewed ? this.garble(this.proposal.text) : dice.words(25).replace(/\r\n?/g, "\n");
    return { text, people: kind.people };
  }

  /**
   * The proposed text with other words in it, so that proposing it is a change in several places.
   */
  garble(text) {
    return text.replace(/[^\s]+/g, (word) => (this.dice.chance(0.2) ? this.dice.words(2).replace(/[\r\n]/g, " ") : word));
  }

  async step() {
    const { dice, kind } = this, editor = dice.pick(this.editors);
    const away = editor.line === null;
    const act = dice.weighed([
      [14, "write"],
      [8, "send"],
      [away ? 0 : 10, "deliver"],
      [10, "pull"],
      [away ? 0 : 1.5, "part"],
      [away ? 8 : 0, "comeBack"],
      [away ? 0 : 1, "resync"],
      [away ? 0 : 1, "changeLines"],
      [this.editors.length < 6 ? 0.3 : 0, "arrive"],
      [kind.reviewed && !away && !editor.asked && this.requests < 2 ? 1.5 : 0, "ask"],
      [kind.reviewed && !away && this.requests > 0 ? 3 : 0, "decide"],
      [kind.undoes && !away && this.accepted().length > 0 ? 1.5 : 0, "undo"],
    ]);
    await this[act](editor);
    if (kind.racing) await turn();
  }

  write(editor) {
    const { length } = editor.own.made;
    editor.write(this.dice);
    this.log(`${editor.name} makes ${editor.own.made.length - length} updates`);
  }

  send(editor) {
    editor.send();
  }

  /** The oldest push arrives. Where pushes race nobody waits for it. */
  async deliver(editor) {
    if (editor.outbox.length === 0) return;
    await this.push(editor, editor.outbox.shift());
  }

  async push(editor, push, line = editor.line) {
    this.count.pushes++;
    if (push.made - push.updates.length < editor.sent) this.count.resent++;
    editor.sent = Math.max(editor.sent, push.made);
    this.log(`${editor.name} pushes ${push.updates.length} on ${push.version}`);
    const answered = editor.deliver(this.documentId, push, line).then((version) => version && this.log(`${editor.name} is answered ${version}`));
    await this.orNot(answered);
  }

  /** Waits, or where things race goes on. */
  async orNot(answered) {
    if (!this.kind.racing) return answered;
    const settled = answered.catch(this.fail).finally(() => this.underway.delete(settled));
    this.underway.add(settled);
  }

  /** Some of what there is arrives. */
  async pull(editor) {
    if (editor.line && !this.kind.racing) await this.hearsAll(editor);
    const count = this.dice.chance(0.4) ? editor.inbox.length : this.dice.below(1 + Math.min(4, editor.inbox.length));
    editor.pull(count);
    if (count > 0) this.log(`${editor.name} applies ${count}, now at ${editor.version}`);
  }

  /**
   * Loses the connection; often with a push on its way, of which nobody knows whether it arrived.
   */
  async part(editor) {
    this.count.parted++;
    if (this.dice.chance(0.7)) editor.send();
    const push = editor.outbox.at(-1);
    if (push) {
      this.count.lost++;
      const answered = editor.line.call("document:push", { documentId: this.documentId, version: push.version, updates: push.updates });
      // Taken, and the answer lost; or the connection ends at once, and who knows.
      if (!this.kind.racing || this.dice.chance(0.3)) {
        const { ok, error } = await answered;
        must(ok !== false || (editor.mayBeBehind && error.code === "resync"), () => `${editor.name}: the last push was refused: ${JSON.stringify(error)}`);
      }
    }
    this.log(`${editor.name} loses its connection${push ? " right after a push" : ""}`);
    editor.part(this.dice);
  }

  async resync(editor) {
    await this.catchUp(editor);
  }

  /** A new connection takes over before the old one is gone, both with the same push on its way. */
  async changeLines(editor) {
    editor.send();
    const push = editor.outbox.at(-1), old = editor.line;
    editor.outbox = [];
    const fresh = await this.newLine(editor);
    if (push) await this.push(editor, push, old);
    editor.line = fresh;
    await this.catchUp(editor);
    if (push) await this.push(editor, push, fresh);
    old.close();
    this.log(`${editor.name} goes on over another connection`);
  }

  async ask(editor) {
    this.requests++;
    editor.asked = true;
    this.count.proposals++;
    this.log(`${editor.name} asks for ${this.proposal.prompt}`);
    const { line } = editor, { sessionId } = line;
    const asked = await line.call("askClaudeCode", { sessionId, prompt: this.proposal.prompt, context: { documentId: this.documentId } });
    must(asked.lost || asked.ok, () => `asking was refused: ${JSON.stringify(asked.error)}`);
    if (asked.lost) return;
    this.asked.push(asked.requestId);
    if (!this.kind.racing) await this.runsAreHeard();
  }

  /** Accepts some changes, rejects others, leaves others open. */
  async decide(editor) {
    const listed = await editor.line.call("list_pending_approvals", { documentId: this.documentId });
    const request = this.dice.pick(listed.requests ?? []);
    if (!request) return;
    const open = request.hunks.filter(({ status }) => status === "pending" || status === "conflict").filter(() => this.dice.chance(0.5));
    const hunks = open.map(({ id, status }) => ({ id, decision: status === "pending" && this.dice.chance(0.6) ? "accept" : "reject" }));
    if (hunks.length === 0) return;
    const approved = hunks.some(({ decision }) => decision === "accept");
    await this.orNot(this.tell(editor, { request_id: request.request_id, preview_hash: request.preview_hash, approved, hunks }));
  }

  async tell(editor, decision) {
    const answer = await editor.line.call("tool_approval_response", decision);
    if (answer.lost) return;
    if (answer.ok) for (const { id, decision: what } of decision.hunks) this.decided.set(id, what);
    // Others typed or decided meanwhile.
    const overtaken = ["stale_preview", "already_resolved", "conflicted", "invalid_decision", "not_found"];
    const code = answer.error?.code;
    must(answer.ok || (this.kind.racing && overtaken.includes(code)), () => `a decision was refused: ${JSON.stringify(answer.error)}`);
    this.count.decisions += Number(answer.ok);
    this.log(`${editor.name} decides ${decision.hunks.length}: ${code ?? answer.status}`);
  }

  accepted() {
    return [...this.decided].filter(([, what]) => what === "accept").map(([id]) => id);
  }

  /** Takes one accepted change back. */
  async undo(editor) {
    const hunk = this.dice.pick(this.accepted());
    // As long as nobody has answered, it may be either.
    this.decided.delete(hunk);
    await this.orNot(this.takeBack(editor, hunk));
  }

  async takeBack(editor, hunk) {
    const [request_id] = hunk.split(".");
    const answer = await editor.line.call("approval:undo", { request_id, hunks: [hunk] });
    if (answer.lost) return;
    // People typed in it, or somebody else took it back.
    const code = answer.error?.code;
    must(answer.ok || ["conflicted", "invalid_decision"].includes(code), () => `an undo was refused: ${JSON.stringify(answer.error)}`);
    if (code === "conflicted") this.decided.set(hunk, "accept");
    this.count.undone += Number(answer.ok);
    this.log(`${editor.name} takes ${hunk} back: ${code ?? answer.status}`);
  }

  /**
   * SIGKILL, often with pushes on their way. What was acknowledged, or only seen, must be there
   * afterwards.
   */
  async cut() {
    this.count.cuts++;
    const there = this.editors.filter(({ line }) => line);
    for (const editor of there) if (this.dice.chance(0.6)) editor.send();
    for (const editor of there) {
      for (const push of editor.outbox.splice(0)) editor.deliver(this.documentId, push).catch(this.fail);
    }
    const busy = this.dice.pick(there);
    if (busy && this.kind.reviewed && this.kind.racing) this.decideAndMore(busy).catch(this.fail);
    // At any moment: of the server's work too, not only between two messages.
    const at = performance.now() + this.dice.next() * this.dice.pick([0, 3, 30]);
    while (performance.now() < at) await turn();
    await this.endures(this.desk.cut());
    // A run that had proposed nothing yet may do so at any time, or never.
    this.unsure = this.asked.some((run) => !this.runs.has(run));
    this.asked = [];
    const acked = this.editors.map((editor) => editor.acked);
    this.observer.close();
    for (const editor of this.editors) editor.part(this.dice);
    await Promise.all(this.underway);
    this.observer = await this.observe();
    const seen = this.ledger.version;
    const { document, requests } = await this.observer.join();
    this.keeps(requests);
    must(document.version >= seen, () => `version ${seen} was seen, after the restart there is ${document.version}`);
    const line = await this.watch();
    await line.join(0, "document:resync");
    line.close();
    this.editors.forEach((editor, at) => must(editor.own.committed >= acked[at], `${editor.name}: acknowledged updates are not there after the restart`));
    // A server that was not killed may have taken something more since it was asked for the text.
    const { version, text } = document, logged = this.ledger.texts[version].toString();
    must(text === logged, () => `the text of version ${version} after the restart is ${JSON.stringify(text)}, by the log it is ${JSON.stringify(logged)}`);
    this.log(`the server was killed; it is at ${document.version} again`);
  }

  /** Where it lasts, people go on meanwhile. What they send may be answered late, or never. */
  async endures(cut) {
    let isOver = !this.kind.lasting;
    const over = cut.finally(() => (isOver = true));
    for (let turns = 0; !isOver; turns++) {
      this.goesOn();
      if (turns % 4 === 3) this.decideMeanwhile();
      await pause(100 + this.dice.below(200));
    }
    await over;
  }

  goesOn() {
    const editor = this.dice.pick(this.editors.filter(({ line }) => line));
    if (!editor) return;
    this.write(editor);
    editor.send();
    for (const push of editor.outbox.splice(0)) editor.deliver(this.documentId, push).catch(this.fail);
  }

  decideMeanwhile() {
    const editor = this.dice.pick(this.editors.filter(({ line }) => line));
    if (editor && this.kind.reviewed && this.kind.racing) this.decideAndMore(editor).catch(this.fail);
  }

  /** One decision after the other, for as long as there is a server. */
  async decideAndMore(editor) {
    for (const deadline = performance.now() + 40; editor.line && performance.now() < deadline; ) {
      const listed = await editor.line.call("list_pending_approvals", { documentId: this.documentId });
      const request = listed.requests?.[0], hunk = request?.hunks.find(({ status }) => status === "pending");
      if (!hunk) return;
      const hunks = [{ id: hunk.id, decision: "accept" }];
      await this.tell(editor, { request_id: request.request_id, preview_hash: request.preview_hash, approved: true, hunks });
    }
  }
}
