// One real connection to the server, and the rules of order that hold on it.
import { monitorEventLoopDelay } from "node:perf_hooks";
import { io } from "./packages.mjs";
import { must } from "./ledger.mjs";

/** Far longer than a loaded machine takes. */
const PATIENCE_MS = 60_000;
/** Between two attempts to reach a server that is not there. */
const AGAIN_MS = 100;
/**
 * The longest time that this process did nothing, by which a machine that stands still is told from
 * a server that does.
 */
const still = monitorEventLoopDelay();
still.enable();
export const standstill = () => `this process stood still for up to ${Math.round(still.max / 1e6)} ms`;

export function late(promise, what) {
  let timer;
  const alarm = new Promise((_, fail) => {
    timer = setTimeout(() => fail(new Error(`waited in vain for ${what}; ${standstill()}`)), PATIENCE_MS);
  });
  return Promise.race([promise, alarm]).finally(() => clearTimeout(timer));
}

/**
 * A server that is being stopped, or cannot store anything, does nothing more; whoever asked asks
 * again. Of the last it says that nothing was changed, or that nobody knows.
 */
const isStopping = (answer) => answer?.error?.code === "unavailable";
const isUndone = (answer) => answer.error.message === "the change could not be stored; nothing was changed";

export class Line {
  /**
   * A line with the `user` whose session the server has registered; without one if it was lost
   * before. Runs of which something comes are added to `runs`.
   */
  static async connect({ desk, token, sessionId, documentId, polling, runs, failed }) {
    const line = new Line();
    const transports = polling ? ["polling", "websocket"] : ["websocket"];
    const auth = { token, protocol: 1, ...(sessionId && { sessionId }) };
    line.socket = io(desk.url, { forceNew: true, reconnection: false, transports, auth });
    line.documentId = documentId;
    line.isPatient = desk.isPatient;
    /** The version this connection has been told of; none before it joins. */
    line.at = null;
    /**
     * `hear(version, update)` is told each update in order, `mirror` everything that moves pending
     * changes.
     */
    line.ear = { hear() {} };
    line.lost = new Promise((resolve) => line.socket.on("disconnect", (reason) => resolve({ lost: true, reason })));
    const guard = (take) => (message) => {
      try {
        if ((message.documentId ?? message.document_id ?? line.documentId) === line.documentId) take(message);
      } catch (error) {
        failed(error);
      }
    };
    line.socket.on("document:updates", guard((message) => line.told(message)));
    line.socket.on("tool_approval_request", guard((request) => {
      runs.add(request.requestId);
      line.ear.mirror?.take("request", request);
    }));
    line.socket.on("tool_approval_resolved", guard((done) => line.ear.mirror?.take("resolved", done)));
    line.socket.on("tool_approval_update", guard((news) => line.ear.mirror?.overhear("news", news)));
    line.socket.on("document:changed", guard((changed) => line.ear.mirror?.overhear("changed", changed)));
    line.socket.on("claudeResponse", ({ requestId }) => runs.add(requestId));
    const registered = new Promise((resolve, refuse) => {
      line.socket.on("sessionRegistered", resolve);
      // A server that is not there just now is tried again, as every client does; what it refuses
      // stays refused.
      line.socket.on("connect_error", (error) => {
        if (error.type === "TransportError") setTimeout(() => line.tryAgain(desk.url), AGAIN_MS);
        else refuse(error);
      });
    });
    const first = await late(Promise.race([registered, line.lost]), "sessionRegistered");
    if (!first.lost) Object.assign(line, { sessionId: first.sessionId, user: first.user });
    return line;
  }

  /** A server that was started again is elsewhere. */
  tryAgain(url) {
    this.socket.io.uri = url;
    this.socket.connect();
  }

  told(message) {
    const { from, updates } = message;
    must(this.at !== null, "updates came before the document was opened");
    must(from === this.at, `updates from version ${from} came at version ${this.at}`);
    for (const update of updates) this.ear.hear(++this.at, update);
    this.ear.mirror?.take("updates", message);
  }

  /**
   * The answer; `{lost: true, reason}` if the connection ended before it came, or the server could
   * do nothing: then, if it is sure of that, its answer is `undone`.
   */
  call(event, payload) {
    const answer = new Promise((resolve) => this.socket.emit(event, payload, (body) => resolve(this.isPatient && isStopping(body) ? { lost: true, reason: "it stops", ...(isUndone(body) && { undone: body }) } : body)));
    return late(Promise.race([answer, this.lost]), `the answer to ${event}`);
  }

  /** Opens the document, or catches up from `since`. The answer joins the updates without a gap. */
  async join(since, event = "document:open") {
    const { documentId } = this;
    this.ear.mirror?.leave();
    const ask = event === "document:resync" ? { documentId, version: since } : { documentId, ...(since !== undefined && { since }) };
    // In the listener of the answer, so that no later update is heard before it.
    return late(Promise.race([this.lost, new Promise((resolve, fail) => this.socket.emit(event, ask, (answer) => {
      try {
        resolve(this.joined(answer, since, event));
      } catch (error) {
        fail(error);
      }
    }))]), `the answer to ${event}`);
  }

  joined(answer, since, event) {
    must(answer.ok, () => `${event} from ${since} was refused: ${JSON.stringify(answer.error)}`);
    const version = answer.document?.version ?? answer.from + answer.updates.length;
    must(this.at === null || this.at === version, () => `${event} says version ${version}, told was ${this.at}`);
    if (since !== undefined) must(answer.from === since, () => `asked from ${since}, answered from ${answer.from}`);
    answer.updates?.forEach((update, at) => this.ear.hear(since + at + 1, update));
    this.ear.mirror?.joined(answer, this.at !== null);
    this.at = version;
    return answer;
  }

  close() {
    this.socket.disconnect();
  }
}
