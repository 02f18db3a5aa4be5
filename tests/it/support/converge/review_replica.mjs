// A replica of a document under review that checks events in the order in which they come: no
// accepted hunk changes frozen text, nothing of an ended request is applied, no request expires
// early.
import { ensure } from "./reference_document.mjs";
import { EditorReplica } from "./editor_replica.mjs";
import { ChangeSet } from "./packages.mjs";

/** Returns `[from, to]` of each change, in positions of the text before. */
function ranges(changes) {
  const list = [];
  changes.iterChangedRanges((from, to) => list.push([from, to]), true);
  return list;
}

/** Returns whether a change touches a frozen range. The edges of a range are outside. */
const touches = ([from, to]) => (range) => (from === to ? range.from < from && from < range.to : from < range.to && range.from < to);

/** A replica that checks the events of a review. */
export class ReviewReplica extends EditorReplica {
  constructor(count) {
    super();
    this.count = count;
    /** Frozen ranges in the newest version received. */
    this.frozen = [];
    /** Requests that can be decided, as they were last announced. */
    this.open = new Map();
    /** All requests that were announced. */
    this.requests = new Map();
    /** The last known status of each hunk. */
    this.statuses = new Map();
    /** Updates that applied hunks, with the replica before them. */
    this.appliedUpdates = [];
  }

  applyJoinReply(reply, wasJoined) {
    const { document, requests } = reply, frozen = JSON.stringify(document.settings.frozen);
    const isKnown = wasJoined && this.queued.length === 0 && this.confirmed.version === document.version;
    if (isKnown) ensure(frozen === JSON.stringify(this.frozen), () => `frozen are ${frozen}, known was ${JSON.stringify(this.frozen)}`);
    this.frozen = document.settings.frozen;
    this.open = new Map();
    requests.forEach((request) => this.addRequest(request));
    // Settings announced before the reply are in the reply.
    this.queued = this.queued.filter(([what]) => what !== "changed");
    super.applyJoinReply(reply, wasJoined);
  }

  addRequest(request) {
    this.open.set(request.request_id, request);
    this.requests.set(request.request_id, request);
    this.recordStatuses(request.hunks);
  }

  recordStatuses(hunks) {
    for (const { id, status } of hunks) this.statuses.set(id, status);
  }

  applyExtra(what, message) {
    this.apply(what, message);
  }

  updates(message) {
    const { from, updates, hunks } = message;
    if (from < this.confirmed.version) return super.updates(message);
    // Only applied hunks are dropped with an update.
    const [{ origin, changes } = {}] = updates;
    if (origin && hunks?.drop.length > 0) this.checkApplied(origin, ChangeSet.fromJSON(changes), hunks.drop);
    for (const update of updates) {
      const over = ChangeSet.fromJSON(update.changes);
      const moved = this.frozen.map(({ from, to }) => ({ from: over.mapPos(from, 1), to: over.mapPos(to, -1) }));
      this.frozen = moved.filter(({ from, to }) => from < to);
    }
    this.recordStatuses(hunks?.put ?? []);
    super.updates(message);
  }

  /** Checks an update that applies hunks. */
  checkApplied(request, changes, drop) {
    const { version, doc } = this.confirmed, at = `version ${version + 1}`;
    ensure(this.open.has(request), () => `${at} applies a hunk of ${request}, which has ended`);
    const frozenRange = ranges(changes).find((range) => this.frozen.some(touches(range)));
    ensure(!frozenRange, () => `${at} changes units ${frozenRange} for ${request}; frozen are ${JSON.stringify(this.frozen)}`);
    const hunks = this.confirmed.hunks.filter((hunk) => hunk.request_id === request);
    this.appliedUpdates.push({ request, drop, hunks, doc, after: changes.apply(doc), version: version + 1 });
  }

  request(request) {
    super.request(request);
    this.addRequest(request);
  }

  resolved(done) {
    super.resolved(done);
    this.recordStatuses(done.hunks);
    const known = this.open.get(done.request_id);
    this.open.delete(done.request_id);
    const isExpired = done.status === "expired" || (done.by === null && done.hunks.some(({ status }) => status === "expired"));
    // A request without a deadline also ends so if people delete the text that was proposed again.
    if (!isExpired || !known || known.expires_at === null) return;
    this.count.expired++;
    ensure(!known.paused, () => `${done.request_id} expired while someone had it focused`);
    ensure(Date.parse(known.expires_at) <= Date.now(), () => `${done.request_id} expired before ${known.expires_at}`);
  }

  /** Receives votes, focus and extensions. */
  news(news) {
    this.recordStatuses(news.hunks ?? []);
    const known = this.open.get(news.request_id);
    if (known && news.status === "pending") Object.assign(known, { expires_at: news.expires_at, paused: news.paused });
  }

  changed({ settings, version }) {
    if (!settings) return;
    ensure(version === this.confirmed.version, () => `settings of version ${version} were announced at ${this.confirmed.version}`);
    this.frozen = settings.frozen;
  }

  /** Returns the identifiers of all hunks with one of the statuses. */
  hunksWithStatus(...statuses) {
    return [...this.statuses].filter(([, status]) => statuses.includes(status)).map(([id]) => id);
  }
}
