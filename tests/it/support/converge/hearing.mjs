// What is told of a document under review, held against the rules as it comes, in the order in
// which it comes: no change of a tool touches frozen words, nothing is applied of a request that
// has ended, nothing expires before its time.
import { must } from "./ledger.mjs";
import { Mirror } from "./mirror.mjs";
import { ChangeSet } from "./packages.mjs";

/** `[from, to]` of each change, in positions of the text before. */
function ranges(changes) {
  const list = [];
  changes.iterChangedRanges((from, to) => list.push([from, to]), true);
  return list;
}

/** At the edges of frozen words is outside. */
const touches = ([from, to]) => (range) => (from === to ? range.from < from && from < range.to : from < range.to && range.from < to);

export class Hearing extends Mirror {
  constructor(count) {
    super();
    this.count = count;
    /** Frozen words, in positions of the version that was told last. */
    this.frozen = [];
    /** Requests that can be decided, as they were told last. */
    this.open = new Map();
    /** Every request that was ever told. */
    this.cards = new Map();
    /** What is known of the changes of all requests. */
    this.statuses = new Map();
    /** Updates that applied changes, with what was on the screens before. */
    this.takes = [];
  }

  joined(answer, told) {
    const { document, requests } = answer, frozen = JSON.stringify(document.settings.frozen);
    const isKnown = told && this.waiting.length === 0 && this.synced.version === document.version;
    if (isKnown) must(frozen === JSON.stringify(this.frozen), () => `frozen are ${frozen}, told was ${JSON.stringify(this.frozen)}`);
    this.frozen = document.settings.frozen;
    this.open = new Map();
    requests.forEach((request) => this.learn(request));
    // Settings told before the answer are in the answer.
    this.waiting = this.waiting.filter(([what]) => what !== "changed");
    super.joined(answer, told);
  }

  learn(request) {
    this.open.set(request.request_id, request);
    this.cards.set(request.request_id, request);
    this.note(request.hunks);
  }

  note(hunks) {
    for (const { id, status } of hunks) this.statuses.set(id, status);
  }

  overhear(what, message) {
    this.take(what, message);
  }

  updates(message) {
    const { from, updates, hunks } = message;
    if (from < this.synced.version) return super.updates(message);
    // Only what was applied leaves the screens with the update that applies it.
    const [{ origin, changes } = {}] = updates;
    if (origin && hunks?.drop.length > 0) this.applies(origin, ChangeSet.fromJSON(changes), hunks.drop);
    for (const update of updates) {
      const over = ChangeSet.fromJSON(update.changes);
      const moved = this.frozen.map(({ from, to }) => ({ from: over.mapPos(from, 1), to: over.mapPos(to, -1) }));
      this.frozen = moved.filter(({ from, to }) => from < to);
    }
    this.note(hunks?.put ?? []);
    super.updates(message);
  }

  /** An update puts what was proposed into the text. */
  applies(request, changes, drop) {
    const { version, doc } = this.synced, at = `version ${version + 1}`;
    must(this.open.has(request), () => `${at} applies a change of ${request}, which has ended`);
    const hit = ranges(changes).find((range) => this.frozen.some(touches(range)));
    must(!hit, () => `${at} changes units ${hit} for ${request}; frozen are ${JSON.stringify(this.frozen)}`);
    const hunks = this.synced.hunks.filter((hunk) => hunk.request_id === request);
    this.takes.push({ request, drop, hunks, doc, after: changes.apply(doc), version: version + 1 });
  }

  request(request) {
    super.request(request);
    this.learn(request);
  }

  resolved(done) {
    super.resolved(done);
    this.note(done.hunks);
    const known = this.open.get(done.request_id);
    this.open.delete(done.request_id);
    const ranOut = done.status === "expired" || (done.by === null && done.hunks.some(({ status }) => status === "expired"));
    // What has no time ends so, too, if people delete the words that were proposed again.
    if (!ranOut || !known || known.expires_at === null) return;
    this.count.expired++;
    must(!known.paused, () => `${done.request_id} expired while somebody looked at it`);
    must(Date.parse(known.expires_at) <= Date.now(), () => `${done.request_id} expired before ${known.expires_at}`);
  }

  /** Votes, looks, more time. */
  news(news) {
    this.note(news.hunks ?? []);
    const known = this.open.get(news.request_id);
    if (known && news.status === "pending") Object.assign(known, { expires_at: news.expires_at, paused: news.paused });
  }

  changed({ settings, version }) {
    if (!settings) return;
    must(version === this.synced.version, () => `settings of version ${version} were told at ${this.synced.version}`);
    this.frozen = settings.frozen;
  }

  /** Changes that are in the text, or of which people may think again. */
  those(...statuses) {
    return [...this.statuses].filter(([, status]) => statuses.includes(status)).map(([id]) => id);
  }
}
