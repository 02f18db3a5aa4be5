// What a session must come to. Every unit of text has a name of its own, given where it was typed.
// From the updates that the server committed the ledger knows which names belong to each version,
// and holds every update against what its author did: it brings exactly the units that were typed,
// once, and takes exactly those that were deleted.
import { ChangeSet, Text } from "./packages.mjs";

/** Something that must never be. */
export class Broken extends Error {}

export function must(holds, message) {
  if (!holds) throw new Broken(typeof message === "function" ? message() : message);
}

/** `[from, to, inserted text]` of each change, in positions of the text before, right to left. */
export function edits(changes) {
  const list = [];
  changes.iterChanges((from, to, _fromB, _toB, inserted) => list.push([from, to, inserted.toString()]), true);
  return list.reverse();
}

/** All that is inserted, left to right. */
export const insertion = (changes) => edits(changes).reduceRight((text, [, , inserted]) => text + inserted, "");

/**
 * The names after `changes`; those of the inserted units are given. What was deleted is put into
 * `gone`.
 */
export function rename(names, changes, inserted, gone = []) {
  const after = [...names];
  let end = inserted.length;
  for (const [from, to, text] of edits(changes)) {
    gone.push(...after.splice(from, to - from, ...inserted.slice(end - text.length, end)));
    end -= text.length;
  }
  must(end === 0, "an update inserts another number of units than were typed");
  return after;
}

export class Ledger {
  constructor(text) {
    this.doc = Text.of(text.split("\n"));
    /** Texts by version; they share what they have in common. */
    this.texts = [this.doc];
    this.next = 0;
    /** Names by version. */
    this.names = [this.fresh(text.length)];
    /** Committed updates; the one that leads to version 1 is the first. */
    this.entries = [];
    this.waiting = new Map();
    this.editors = new Map();
    this.deleted = new Set();
  }

  get version() {
    return this.entries.length;
  }

  fresh(count) {
    return Array.from({ length: count }, () => this.next++);
  }

  /** An editor instance that may write. */
  admit(clientID) {
    must(!this.editors.has(clientID), `the clientID ${clientID} was given out twice`);
    const own = { made: [], committed: 0 };
    this.editors.set(clientID, own);
    return own;
  }

  /** Somebody saw that this update leads to this version. */
  learn(version, { clientID, changes }) {
    const json = JSON.stringify(changes);
    const known = this.entries[version - 1] ?? this.waiting.get(version);
    if (known) {
      const same = known.json === json && known.clientID === clientID;
      return must(same, () => `version ${version} was ${known.clientID} ${known.json}, now it is ${clientID} ${json}`);
    }
    this.waiting.set(version, { clientID, json, changes: ChangeSet.fromJSON(changes) });
    for (let entry; (entry = this.waiting.get(this.version + 1)); ) {
      this.waiting.delete(this.version + 1);
      this.commit(entry);
    }
  }

  commit(entry) {
    const { clientID, changes } = entry, at = this.version + 1;
    must(changes.length === this.doc.length, () => `version ${at} changes ${changes.length} units, there are ${this.doc.length}`);
    const before = this.names.at(-1), gone = [];
    if (clientID.startsWith("ai:")) {
      entry.names = this.fresh(insertion(changes).length);
      this.names.push(rename(before, changes, entry.names, gone));
      gone.forEach((name) => this.deleted.add(name));
    } else {
      const own = this.editors.get(clientID);
      must(own, `version ${at} is by ${clientID}, whom nobody knows`);
      const made = own.made[own.committed++];
      must(made, `version ${at}: ${clientID} made only ${own.made.length} updates, so one was taken twice`);
      must(insertion(changes) === made.text, () => `version ${at} inserts ${JSON.stringify(insertion(changes))}, typed was ${JSON.stringify(made.text)}`);
      entry.names = made.names;
      const after = rename(before, changes, made.names, gone);
      must(!made.gone || gone.every((name) => made.gone.has(name)), `version ${at} deletes what ${clientID} did not delete`);
      must(!made.gone || !after.some((name) => made.gone.has(name)), `version ${at} keeps what ${clientID} deleted`);
      this.names.push(after);
    }
    this.doc = changes.apply(this.doc);
    this.texts.push(this.doc);
    this.entries.push(entry);
  }

  /** Everything that was typed and taken is there, unless somebody deleted it. */
  settle() {
    must(this.waiting.size === 0, () => `versions ${[...this.waiting.keys()]} came after a gap`);
    const here = new Set(this.names.at(-1));
    for (const [clientID, { made, committed }] of this.editors) {
      must(committed === made.length, `${committed} of ${made.length} updates of ${clientID} were taken`);
      const lost = made.flatMap(({ names }) => names).filter((name) => !here.has(name) && !this.deleted.has(name));
      must(lost.length === 0, `${lost.length} units typed by ${clientID} are lost`);
    }
  }
}
