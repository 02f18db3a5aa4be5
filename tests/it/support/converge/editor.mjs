// An editor far away: what it sends arrives later, twice, or not until it is sent again; what it
// hears it applies when it likes.
import { ChangeSet, EditorState, EditorSelection, collab, getSyncedVersion, history, receiveUpdates, redo, sendableUpdates, undo } from "./packages.mjs";
import { edits, insertion, must, rename } from "./ledger.mjs";

/** Positions of a text that are not inside a surrogate pair. */
function boundaries(doc) {
  const at = [0];
  for (const character of doc.toString()) at.push(at.at(-1) + character.length);
  return at;
}

export class Editor {
  /** `stock` applies all updates at hand at once, as CodeMirror's example does. */
  constructor({ name, ledger, opened, mirror, stock }) {
    const { text, version } = opened.document;
    this.name = name;
    this.clientID = opened.clientID;
    this.ledger = ledger;
    this.own = ledger.admit(this.clientID);
    this.names = ledger.names[version];
    this.stock = stock;
    const extensions = [collab({ startVersion: version, clientID: this.clientID }), history()];
    this.state = EditorState.create({ doc: text, extensions });
    must(this.state.doc.eq(ledger.doc) || version < ledger.version, "the opened text is not that of its version");
    /** Updates heard and not yet applied. */
    this.inbox = [];
    /** Pushes on their way to the line. */
    this.outbox = [];
    /** How many updates the server has said it has. */
    this.acked = 0;
    /** How many were sent at least once. */
    this.sent = 0;
    this.line = null;
    this.mirror = mirror;
  }

  get version() {
    return getSyncedVersion(this.state);
  }

  get heard() {
    return this.version + this.inbox.length;
  }

  get unconfirmed() {
    return sendableUpdates(this.state).length;
  }

  /** An update of the line; one that is known already does nothing. */
  hear(version, update) {
    this.ledger.learn(version, update);
    must(version <= this.heard + 1, () => `${this.name} was told version ${version} at ${this.heard}`);
    if (version === this.heard + 1) this.inbox.push(update);
  }

  /** Applies `count` updates that were heard, one after the other. */
  pull(count) {
    const updates = this.inbox.splice(0, count);
    if (this.stock) return this.receive(updates);
    for (const update of updates) {
      const { version, unconfirmed, state } = this;
      const changes = this.receive([update]);
      const mine = update.clientID === this.clientID;
      must(this.version === version + 1 && this.unconfirmed === unconfirmed - Number(mine), `${this.name}: version ${version + 1} confirms another number of updates`);
      if (mine) must(this.state.doc.eq(state.doc), `${this.name}: an own update changes the text again`);
      else this.names = rename(this.names, changes, this.ledger.entries[version].names);
    }
  }

  receive(updates) {
    const { state, changes } = receiveUpdates(this.state, updates.map(({ clientID, changes }) => ({ clientID, changes: ChangeSet.fromJSON(changes) })));
    this.state = state;
    return changes;
  }

  /** Notes a change made here. */
  take(transaction) {
    this.state = transaction.state;
    const { changes } = transaction;
    if (changes.empty) return;
    const text = insertion(changes), names = this.ledger.fresh(text.length), gone = [];
    this.names = this.stock ? this.names : rename(this.names, changes, names, gone);
    gone.forEach((name) => this.ledger.deleted.add(name));
    this.own.made.push({ text, names, gone: this.stock ? null : new Set(gone) });
  }

  change(changes, userEvent) {
    const last = edits(this.state.changes(changes))[0];
    const cursor = last && this.state.changes(changes).mapPos(last[1], 1);
    this.take(this.state.update({ changes, userEvent, ...(last && { selection: EditorSelection.cursor(cursor) }) }));
  }

  /** What a person does in a moment. */
  write(dice) {
    dice.weighed([
      [6, () => this.type(dice)],
      [3, () => this.erase(dice)],
      [2, () => this.paste(dice)],
      [2, () => this.replaceInPlaces(dice)],
      [2, () => undo(this.target)],
      [1, () => redo(this.target)],
    ])();
  }

  get target() {
    return { state: this.state, dispatch: (transaction) => this.take(transaction) };
  }

  /** A run of keys where the cursor stands, or somewhere else. */
  type(dice) {
    if (dice.chance(0.4)) this.state = this.state.update({ selection: EditorSelection.cursor(dice.pick(boundaries(this.state.doc))) }).state;
    for (let keys = 1 + dice.below(6); keys > 0; keys--) {
      const { head } = this.state.selection.main;
      this.change({ from: head, insert: dice.key() }, "input.type");
    }
  }

  /** Backspace a few times, or a selection. */
  erase(dice) {
    if (dice.chance(0.3)) return this.change(this.range(dice, 12), "delete.selection");
    for (let keys = 1 + dice.below(4); keys > 0; keys--) {
      const { head } = this.state.selection.main;
      const from = boundaries(this.state.doc).findLast((at) => at < head);
      if (from !== undefined) this.change({ from, to: head }, "delete.backward");
    }
  }

  paste(dice) {
    this.change({ ...this.range(dice, 4), insert: dice.words(12) }, "input.paste");
  }

  /** One transaction that changes several places, in any order, also next to each other. */
  replaceInPlaces(dice) {
    const changes = Array.from({ length: 2 + dice.below(2) }, () => ({ ...this.range(dice, 3), insert: dice.chance(0.3) ? "" : dice.words(3) }));
    this.change(changes, "input.replace");
  }

  range(dice, most) {
    const places = boundaries(this.state.doc), at = dice.below(places.length);
    const end = Math.min(places.length - 1, at + dice.below(most + 1));
    return { from: places[at], to: places[end] };
  }

  /**
   * Everything that is not confirmed, on its way. It may be sent a second time before the first is
   * confirmed.
   */
  send() {
    const updates = sendableUpdates(this.state).map(({ clientID, changes }) => ({ clientID, changes: changes.toJSON() }));
    if (updates.length > 0) this.outbox.push({ version: this.version, updates, made: this.own.made.length });
  }

  /**
   * The next push reaches the line; the version the server answers with, or nothing if the answer
   * is lost.
   */
  async deliver(documentId, push = this.outbox.shift(), line = this.line) {
    const { version, updates, made } = push;
    const answer = await line.call("document:push", { documentId, version, updates });
    if (answer.lost) return;
    // A server that was stopped in good order keeps a text and not what led to it: whoever applied
    // less than that applies what it heard, and sends again.
    this.isBehind = this.mayBeBehind && answer.error?.code === "resync";
    if (this.isBehind) return this.pull(this.inbox.length);
    must(answer.ok, () => `${this.name}: a push of ${updates.length} on version ${version} was refused: ${JSON.stringify(answer.error)}`);
    this.acked = Math.max(this.acked, made);
    return answer.version;
  }

  /**
   * The connection is gone, with everything that was on its way; what was heard may be forgotten
   * too.
   */
  part(dice) {
    this.line?.close();
    this.line = null;
    this.outbox = [];
    if (dice.chance(0.5)) this.inbox = [];
  }
}
