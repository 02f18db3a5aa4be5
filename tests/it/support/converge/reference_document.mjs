// A reference model of the document. Each unit of text has an identifier, given where it was typed.
// From the committed updates the model knows the units of each version, and checks every update
// against the change its author made: it inserts exactly the typed units, once, and removes exactly
// the deleted ones.
import { ChangeSet, Text } from "./packages.mjs";

/** A violated invariant. */
export class InvariantViolation extends Error {}

/** Throws a violation if the condition does not hold. */
export function ensure(condition, message) {
  if (!condition) throw new InvariantViolation(typeof message === "function" ? message() : message);
}

/**
 * Returns `[from, to, inserted text]` of each change, in positions of the text before, right to
 * left.
 */
export function edits(changes) {
  const list = [];
  changes.iterChanges((from, to, _fromB, _toB, inserted) => list.push([from, to, inserted.toString()]), true);
  return list.reverse();
}

/** Returns all inserted text, left to right. */
export const insertion = (changes) => edits(changes).reduceRight((text, [, , inserted]) => text + inserted, "");

/**
 * Returns the units after `changes`, with the given inserted units. The removed units are added to
 * `removed`.
 */
export function replaceUnits(units, changes, inserted, removed = []) {
  const after = [...units];
  let end = inserted.length;
  for (const [from, to, text] of edits(changes)) {
    removed.push(...after.splice(from, to - from, ...inserted.slice(end - text.length, end)));
    end -= text.length;
  }
  ensure(end === 0, "an update inserts another number of units than were typed");
  return after;
}

/** The committed updates, the units of each version, and the local changes of all editors. */
export class ReferenceDocument {
  constructor(text) {
    this.doc = Text.of(text.split("\n"));
    /** Texts by version; they share what they have in common. */
    this.texts = [this.doc];
    this.nextUnit = 0;
    /** Units by version. */
    this.unitsByVersion = [this.newUnits(text.length)];
    /** Committed updates; the first leads to version 1. */
    this.entries = [];
    this.outOfOrder = new Map();
    this.authors = new Map();
    this.deleted = new Set();
  }

  get version() {
    return this.entries.length;
  }

  newUnits(count) {
    return Array.from({ length: count }, () => this.nextUnit++);
  }

  /** Adds an editor that may write. */
  addAuthor(clientID) {
    ensure(!this.authors.has(clientID), `the clientID ${clientID} was given out twice`);
    const author = { changes: [], committed: 0 };
    this.authors.set(clientID, author);
    return author;
  }

  /** Records an update that someone received as leading to a version. */
  recordUpdate(version, { clientID, changes }) {
    const json = JSON.stringify(changes);
    const known = this.entries[version - 1] ?? this.outOfOrder.get(version);
    if (known) {
      const same = known.json === json && known.clientID === clientID;
      return ensure(same, () => `version ${version} was ${known.clientID} ${known.json}, now it is ${clientID} ${json}`);
    }
    this.outOfOrder.set(version, { clientID, json, changes: ChangeSet.fromJSON(changes) });
    for (let entry; (entry = this.outOfOrder.get(this.version + 1)); ) {
      this.outOfOrder.delete(this.version + 1);
      this.commit(entry);
    }
  }

  commit(entry) {
    const { clientID, changes } = entry, at = this.version + 1;
    ensure(changes.length === this.doc.length, () => `version ${at} changes ${changes.length} units, there are ${this.doc.length}`);
    const before = this.unitsByVersion.at(-1), removed = [];
    if (clientID.startsWith("ai:")) {
      entry.units = this.newUnits(insertion(changes).length);
      this.unitsByVersion.push(replaceUnits(before, changes, entry.units, removed));
      removed.forEach((unit) => this.deleted.add(unit));
    } else {
      const author = this.authors.get(clientID);
      ensure(author, `version ${at} is by ${clientID}, which is unknown`);
      const change = author.changes[author.committed++];
      ensure(change, `version ${at}: ${clientID} made only ${author.changes.length} updates, so one was applied twice`);
      ensure(insertion(changes) === change.text, () => `version ${at} inserts ${JSON.stringify(insertion(changes))}, typed was ${JSON.stringify(change.text)}`);
      entry.units = change.units;
      const after = replaceUnits(before, changes, change.units, removed);
      ensure(!change.removed || removed.every((unit) => change.removed.has(unit)), `version ${at} deletes what ${clientID} did not delete`);
      ensure(!change.removed || !after.some((unit) => change.removed.has(unit)), `version ${at} keeps what ${clientID} deleted`);
      this.unitsByVersion.push(after);
    }
    this.doc = changes.apply(this.doc);
    this.texts.push(this.doc);
    this.entries.push(entry);
  }

  /**
   * Checks that every change was committed, and every typed unit is present unless someone deleted
   * it.
   */
  checkAllCommitted() {
    ensure(this.outOfOrder.size === 0, () => `versions ${[...this.outOfOrder.keys()]} came after a gap`);
    const present = new Set(this.unitsByVersion.at(-1));
    for (const [clientID, { changes, committed }] of this.authors) {
      ensure(committed === changes.length, `${committed} of ${changes.length} updates of ${clientID} were committed`);
      const lost = changes.flatMap(({ units }) => units).filter((unit) => !present.has(unit) && !this.deleted.has(unit));
      ensure(lost.length === 0, `${lost.length} units typed by ${clientID} are lost`);
    }
  }
}
