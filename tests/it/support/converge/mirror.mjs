// The server's side of a document as the browser keeps it: editor/sync/confirmedDocument.ts itself,
// fed from a line as liveDocument.ts feeds it.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { must } from "./ledger.mjs";
import { require } from "./packages.mjs";

const ts = require("typescript");
const loaded = new Map();

/** A module of the editor, without its types. */
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
const { ConfirmedDocument } = load(new URL("editor/sync/confirmedDocument.ts", source));
const { fits, inOrder, isOpen } = load(new URL("review/changes/hunk.ts", source));

/** What can be seen of pending changes, in reading order. */
const seen = (hunks) =>
  JSON.stringify(
    [...hunks].filter(({ status }) => isOpen(status)).sort(inOrder)
      .map(({ id, status, parts }) => [id, status, parts.map(({ from, to, base, insert }) => [from, to, base, insert])]),
  );

export class Mirror {
  /** Nothing is taken before the document is open. */
  constructor() {
    this.synced = null;
    this.leave();
  }

  /** What comes before the answer waits for it. */
  leave() {
    this.waiting = [];
  }

  /** `told`: the line was open before, so nothing was missed. */
  joined({ document, from, updates, requests }, told) {
    const version = document?.version ?? from + updates.length, { waiting } = this;
    if (told && this.synced.version === version && waiting.every((it) => this.knows(it))) this.agrees(requests);
    if (document) this.synced = new ConfirmedDocument(document.text, version);
    else this.updates({ from, updates });
    const misfits = this.synced.replace(requests);
    must(misfits.length === 0, () => `at version ${version} a request of version ${misfits[0].version} does not fit ${JSON.stringify(this.synced.doc.toString())}: ${JSON.stringify(misfits[0].hunks.filter((hunk) => isOpen(hunk.status) && !fits(hunk, this.synced.doc)))}`);
    this.waiting = null;
    // A request told before the answer is in the answer, at a newer version, if it can still be
    // decided.
    const isOld = ([what, message]) => what === "request" && message.version < version;
    waiting.filter((it) => !isOld(it)).forEach(([what, message]) => this[what](message));
  }

  /** Whether it is a request that was heard of before. */
  knows([what, message]) {
    return what === "request" && this.synced.hunks.some((hunk) => hunk.request_id === message.request_id);
  }

  take(what, message) {
    if (this.waiting) this.waiting.push([what, message]);
    else this[what](message);
  }

  /** What moves no pending change. */
  overhear() {}

  updates({ from, updates, hunks }) {
    const known = this.synced.version - from;
    must(known >= 0, `the mirror is at ${this.synced.version}, updates are from ${from}`);
    if (known > updates.length || (known > 0 && known === updates.length)) return;
    updates.slice(known).forEach((update) => this.synced.commit(update));
    if (hunks) this.synced.change(hunks);
  }

  request(request) {
    this.synced.add(request);
  }

  resolved({ request_id }) {
    this.synced.drop((hunk) => hunk.request_id === request_id);
  }

  /** The pending changes are where the server has them. */
  agrees(requests) {
    const [here, there] = [seen(this.synced.hunks), seen(requests.flatMap(({ hunks }) => hunks))];
    must(here === there, () => `pending changes at version ${this.synced.version} are\n  ${here}, the server has\n  ${there}`);
  }
}
