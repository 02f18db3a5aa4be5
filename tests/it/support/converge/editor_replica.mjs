// A replica of the confirmed document, as the browser keeps it: document/confirmedDocument.ts
// itself, with the events of a connection as liveDocument.ts has them.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { ensure } from "./reference_document.mjs";
import { require } from "./packages.mjs";

const ts = require("typescript");
const loaded = new Map();

/** Loads a module of the editor, without its types. */
function load(url) {
  if (loaded.has(url.href)) return loaded.get(url.href);
  const exports = {};
  loaded.set(url.href, exports);
  const { outputText } = ts.transpileModule(readFileSync(fileURLToPath(url), "utf8"), {
    compilerOptions: { module: ts.ModuleKind.CommonJS, target: ts.ScriptTarget.ES2022 },
  });
  new Function("exports", "require", outputText)(exports, (name) => (name.startsWith(".") ? load(new URL(name, url)) : require(name)));
  return exports;
}

const source = new URL("../../../../web/src/", import.meta.url);
const { ConfirmedDocument } = load(new URL("document/confirmedDocument.ts", source));
const { fits, inOrder, isOpen } = load(new URL("review/state/hunk.ts", source));

/** Describes the open hunks in reading order. */
const describeHunks = (hunks) =>
  JSON.stringify(
    [...hunks].filter(({ status }) => isOpen(status)).sort(inOrder)
      .map(({ id, status, parts }) => [id, status, parts.map(({ from, to, base, insert }) => [from, to, base, insert])]),
  );

/** A replica that follows the events of a connection. */
export class EditorReplica {
  /** Creates a replica that queues events until the document is open. */
  constructor() {
    this.confirmed = null;
    this.reset();
  }

  /** Queues events until the next reply of an opening. */
  reset() {
    this.queued = [];
  }

  /**
   * Applies the reply of an opening. `wasJoined`: the document was open before, so nothing was
   * missed.
   */
  applyJoinReply({ document, from, updates, requests }, wasJoined) {
    const version = document?.version ?? from + updates.length, { queued } = this;
    if (wasJoined && this.confirmed.version === version && queued.every((event) => this.isKnown(event))) this.checkMatches(requests);
    if (document) this.confirmed = new ConfirmedDocument(document.text, version);
    else this.updates({ from, updates });
    const misfits = this.confirmed.replace(requests);
    ensure(misfits.length === 0, () => `at version ${version} a request of version ${misfits[0].version} does not fit ${JSON.stringify(this.confirmed.doc.toString())}: ${JSON.stringify(misfits[0].hunks.filter((hunk) => isOpen(hunk.status) && !fits(hunk, this.confirmed.doc)))}`);
    this.queued = null;
    // A request announced before the reply is in the reply, at a newer version, if it can still be
    // decided.
    const isOld = ([what, message]) => what === "request" && message.version < version;
    queued.filter((event) => !isOld(event)).forEach(([what, message]) => this[what](message));
  }

  /** Returns whether the event is a request that is known already. */
  isKnown([what, message]) {
    return what === "request" && this.confirmed.hunks.some((hunk) => hunk.request_id === message.request_id);
  }

  apply(what, message) {
    if (this.queued) this.queued.push([what, message]);
    else this[what](message);
  }

  /** Receives an event that changes no pending hunk. */
  applyExtra() {}

  updates({ from, updates, hunks }) {
    const known = this.confirmed.version - from;
    ensure(known >= 0, `the replica is at ${this.confirmed.version}, updates are from ${from}`);
    if (known > updates.length || (known > 0 && known === updates.length)) return;
    updates.slice(known).forEach((update) => this.confirmed.commit(update));
    if (hunks) this.confirmed.change(hunks);
  }

  request(request) {
    this.confirmed.add(request);
  }

  resolved({ request_id }) {
    this.confirmed.drop((hunk) => hunk.request_id === request_id);
  }

  /** Checks that the pending hunks are those of the server. */
  checkMatches(requests) {
    const [here, there] = [describeHunks(this.confirmed.hunks), describeHunks(requests.flatMap(({ hunks }) => hunks))];
    ensure(here === there, () => `pending changes at version ${this.confirmed.version} are\n  ${here}, the server has\n  ${there}`);
  }
}
