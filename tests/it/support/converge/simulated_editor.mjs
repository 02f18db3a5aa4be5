// A simulated editor at a distance: its pushes arrive late, twice, or not until they are sent
// again; received updates are applied later.
import { ChangeSet, EditorState, EditorSelection, collab, getSyncedVersion, history, receiveUpdates, redo, sendableUpdates, undo } from "./packages.mjs";
import { edits, insertion, ensure, replaceUnits } from "./reference_document.mjs";

/** Returns the positions of a text that are not inside a surrogate pair. */
function boundaries(doc) {
  const at = [0];
  for (const character of doc.toString()) at.push(at.at(-1) + character.length);
  return at;
}

/** A real CodeMirror state with queues of updates and pushes. */
export class SimulatedEditor {
  /**
   * With `allAtOnce` the editor applies all received updates at once, as CodeMirror's example does.
   */
  constructor({ name, reference, opened, replica, allAtOnce }) {
    const { text, version } = opened.document;
    this.name = name;
    this.clientID = opened.clientID;
    this.reference = reference;
    this.author = reference.addAuthor(this.clientID);
    this.units = reference.unitsByVersion[version];
    this.allAtOnce = allAtOnce;
    const extensions = [collab({ startVersion: version, clientID: this.clientID }), history()];
    this.state = EditorState.create({ doc: text, extensions });
    ensure(this.state.doc.eq(reference.doc) || version < reference.version, "the opened text is not that of its version");
    /** Updates that were received and not applied. */
    this.inbox = [];
    /** Pushes that were not sent over the connection. */
    this.outbox = [];
    /** Number of changes that the server has acknowledged. */
    this.acknowledged = 0;
    /** Number of changes that were sent at least once. */
    this.sent = 0;
    this.connection = null;
    this.replica = replica;
  }

  get version() {
    return getSyncedVersion(this.state);
  }

  get receivedVersion() {
    return this.version + this.inbox.length;
  }

  get unconfirmed() {
    return sendableUpdates(this.state).length;
  }

  /** Receives an update. A known one is ignored. */
  enqueue(version, update) {
    this.reference.recordUpdate(version, update);
    ensure(version <= this.receivedVersion + 1, () => `${this.name} received version ${version} at ${this.receivedVersion}`);
    if (version === this.receivedVersion + 1) this.inbox.push(update);
  }

  /** Applies `count` received updates, one after the other. */
  applyReceived(count) {
    const updates = this.inbox.splice(0, count);
    if (this.allAtOnce) return this.receive(updates);
    for (const update of updates) {
      const { version, unconfirmed, state } = this;
      const changes = this.receive([update]);
      const isOwn = update.clientID === this.clientID;
      ensure(this.version === version + 1 && this.unconfirmed === unconfirmed - Number(isOwn), `${this.name}: version ${version + 1} confirms another number of updates`);
      if (isOwn) ensure(this.state.doc.eq(state.doc), `${this.name}: an own update changes the text again`);
      else this.units = replaceUnits(this.units, changes, this.reference.entries[version].units);
    }
  }

  receive(updates) {
    const { state, changes } = receiveUpdates(this.state, updates.map(({ clientID, changes }) => ({ clientID, changes: ChangeSet.fromJSON(changes) })));
    this.state = state;
    return changes;
  }

  /** Applies and records a local change. */
  apply(transaction) {
    this.state = transaction.state;
    const { changes } = transaction;
    if (changes.empty) return;
    const text = insertion(changes), units = this.reference.newUnits(text.length), removed = [];
    this.units = this.allAtOnce ? this.units : replaceUnits(this.units, changes, units, removed);
    removed.forEach((unit) => this.reference.deleted.add(unit));
    this.author.changes.push({ text, units, removed: this.allAtOnce ? null : new Set(removed) });
  }

  change(changes, userEvent) {
    const last = edits(this.state.changes(changes))[0];
    const cursor = last && this.state.changes(changes).mapPos(last[1], 1);
    this.apply(this.state.update({ changes, userEvent, ...(last && { selection: EditorSelection.cursor(cursor) }) }));
  }

  /** Makes a random change. */
  edit(random) {
    random.weightedPick([
      [6, () => this.type(random)],
      [3, () => this.erase(random)],
      [2, () => this.paste(random)],
      [2, () => this.replaceSeveral(random)],
      [2, () => undo(this.target)],
      [1, () => redo(this.target)],
    ])();
  }

  get target() {
    return { state: this.state, dispatch: (transaction) => this.apply(transaction) };
  }

  /** Types some characters at the cursor or elsewhere. */
  type(random) {
    if (random.chance(0.4)) this.state = this.state.update({ selection: EditorSelection.cursor(random.pick(boundaries(this.state.doc))) }).state;
    for (let keys = 1 + random.below(6); keys > 0; keys--) {
      const { head } = this.state.selection.main;
      this.change({ from: head, insert: random.character() }, "input.type");
    }
  }

  /** Deletes some characters or a selection. */
  erase(random) {
    if (random.chance(0.3)) return this.change(this.range(random, 12), "delete.selection");
    for (let keys = 1 + random.below(4); keys > 0; keys--) {
      const { head } = this.state.selection.main;
      const from = boundaries(this.state.doc).findLast((at) => at < head);
      if (from !== undefined) this.change({ from, to: head }, "delete.backward");
    }
  }

  paste(random) {
    this.change({ ...this.range(random, 4), insert: random.words(12) }, "input.paste");
  }

  /** Changes several ranges in one transaction, in any order, which may be adjacent. */
  replaceSeveral(random) {
    const changes = Array.from({ length: 2 + random.below(2) }, () => ({ ...this.range(random, 3), insert: random.chance(0.3) ? "" : random.words(3) }));
    this.change(changes, "input.replace");
  }

  range(random, maxLength) {
    const positions = boundaries(this.state.doc), at = random.below(positions.length);
    const end = Math.min(positions.length - 1, at + random.below(maxLength + 1));
    return { from: positions[at], to: positions[end] };
  }

  /** Queues all unconfirmed updates. They may be sent again before they are confirmed. */
  send() {
    const updates = sendableUpdates(this.state).map(({ clientID, changes }) => ({ clientID, changes: changes.toJSON() }));
    if (updates.length > 0) this.outbox.push({ version: this.version, updates, changeCount: this.author.changes.length });
  }

  /** Sends the next push. Returns the version of the reply, or nothing if the reply is lost. */
  async deliver(documentId, push = this.outbox.shift(), connection = this.connection) {
    const { version, updates, changeCount } = push;
    const reply = await connection.call("document:push", { documentId, version, updates });
    if (reply.lost) return;
    // A server that was shut down keeps a snapshot and not the updates before it. An editor behind
    // it applies what it received, and sends again.
    this.needsMoreUpdates = this.mayNeedUpdates && reply.error?.code === "resync";
    if (this.needsMoreUpdates) return this.applyReceived(this.inbox.length);
    ensure(reply.ok, () => `${this.name}: a push of ${updates.length} on version ${version} was refused: ${JSON.stringify(reply.error)}`);
    this.acknowledged = Math.max(this.acknowledged, changeCount);
    return reply.version;
  }

  /** Closes the connection. Everything on its way is lost, and received updates may be, too. */
  disconnect(random) {
    this.connection?.close();
    this.connection = null;
    this.outbox = [];
    if (random.chance(0.5)) this.inbox = [];
  }
}
