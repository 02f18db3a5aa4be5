// A real connection to the server, with checks of the order of its events.
import { monitorEventLoopDelay } from "node:perf_hooks";
import { io } from "./packages.mjs";
import { ensure } from "./reference_document.mjs";

/** Timeout of a reply: far longer than a loaded machine takes. */
const REPLY_TIMEOUT_MS = 60_000;
/** Time between two attempts to connect. */
const RETRY_MS = 100;
/** The delay of the event loop, which tells a stalled machine from a stalled server. */
const eventLoopDelay = monitorEventLoopDelay();
eventLoopDelay.enable();
export const describeStall = () => `this process stood still for up to ${Math.round(eventLoopDelay.max / 1e6)} ms`;

/** Awaits a promise, or fails after the timeout of a reply. */
export function withTimeout(promise, what) {
  let timer;
  const timeout = new Promise((_, fail) => {
    timer = setTimeout(() => fail(new Error(`timed out waiting for ${what}; ${describeStall()}`)), REPLY_TIMEOUT_MS);
  });
  return Promise.race([promise, timeout]).finally(() => clearTimeout(timer));
}

/**
 * A server that shuts down, or cannot store anything, answers "unavailable", and clients retry.
 * Without space it says that nothing was changed, or that the outcome is unknown.
 */
const isUnavailable = (reply) => reply?.error?.code === "unavailable";
const isUnchanged = (reply) => reply.error.message === "the change could not be stored; nothing was changed";

/** A connection of an editor, a reviewer or the observer. */
export class Connection {
  /**
   * Connects, and resolves once the server has registered the session of the `user`; without a
   * `user` if the connection was lost before. Runs with events are added to `runs`.
   */
  static async connect({ server, token, sessionId, documentId, polling, runs, onFailure }) {
    const connection = new Connection();
    const transports = polling ? ["polling", "websocket"] : ["websocket"];
    const auth = { token, protocol: 1, ...(sessionId && { sessionId }) };
    connection.socket = io(server.url, { forceNew: true, reconnection: false, transports, auth });
    connection.documentId = documentId;
    connection.mayRefuse = server.mayRefuse;
    /** The version of the last received update; none before the document is open. */
    connection.version = null;
    /**
     * `onUpdate(version, update)` receives each update in order, `replica` every event that changes
     * pending hunks.
     */
    connection.listener = { onUpdate() {} };
    /** Whether the connection was lost. This side did not close it. */
    connection.isLost = false;
    connection.lost = new Promise((resolve) => connection.socket.on("disconnect", (reason) => {
      connection.isLost = reason !== "io client disconnect";
      resolve({ lost: true, reason });
    }));
    const guard = (handle) => (message) => {
      try {
        if ((message.documentId ?? message.document_id ?? connection.documentId) === connection.documentId) handle(message);
      } catch (error) {
        onFailure(error);
      }
    };
    connection.socket.on("document:updates", guard((message) => connection.applyUpdates(message)));
    connection.socket.on("tool_approval_request", guard((request) => {
      runs.add(request.requestId);
      connection.listener.replica?.apply("request", request);
    }));
    connection.socket.on("tool_approval_resolved", guard((done) => connection.listener.replica?.apply("resolved", done)));
    connection.socket.on("tool_approval_update", guard((news) => connection.listener.replica?.applyExtra("news", news)));
    connection.socket.on("document:changed", guard((changed) => connection.listener.replica?.applyExtra("changed", changed)));
    connection.socket.on("claudeResponse", ({ requestId }) => runs.add(requestId));
    const registered = new Promise((resolve, refuse) => {
      connection.socket.on("sessionRegistered", resolve);
      // A server that cannot be reached is tried again, as every client does. A refusal is final.
      connection.socket.on("connect_error", (error) => {
        if (error.type === "TransportError") setTimeout(() => connection.retry(server.url), RETRY_MS);
        else refuse(error);
      });
    });
    const first = await withTimeout(Promise.race([registered, connection.lost]), "sessionRegistered");
    if (!first.lost) Object.assign(connection, { sessionId: first.sessionId, user: first.user });
    return connection;
  }

  /** A restarted server has another address. */
  retry(url) {
    this.socket.io.uri = url;
    this.socket.connect();
  }

  applyUpdates(message) {
    const { from, updates } = message;
    ensure(this.version !== null, "updates came before the document was opened");
    ensure(from === this.version, `updates from version ${from} came at version ${this.version}`);
    for (const update of updates) this.listener.onUpdate(++this.version, update);
    this.listener.replica?.apply("updates", message);
  }

  /**
   * Returns the reply; `{lost: true, reason}` if the connection ended before it came, or the server
   * was unavailable. If the server is sure that nothing was changed, its reply is the `refusal`.
   */
  call(event, payload) {
    const reply = new Promise((resolve) => this.socket.emit(event, payload, (body) => resolve(this.mayRefuse && isUnavailable(body) ? { lost: true, reason: "unavailable", ...(isUnchanged(body) && { refusal: body }) } : body)));
    return withTimeout(Promise.race([reply, this.lost]), `the reply to ${event}`);
  }

  /**
   * Opens the document, or catches up from `since`. Its reply and the updates after it have no gap.
   */
  async join(since, event = "document:open") {
    const { documentId } = this;
    this.listener.replica?.reset();
    const ask = event === "document:resync" ? { documentId, version: since } : { documentId, ...(since !== undefined && { since }) };
    // In the callback of the reply, so that no later update is received before it.
    return withTimeout(Promise.race([this.lost, new Promise((resolve, fail) => this.socket.emit(event, ask, (reply) => {
      try {
        resolve(this.applyJoinReply(reply, since, event));
      } catch (error) {
        fail(error);
      }
    }))]), `the reply to ${event}`);
  }

  applyJoinReply(reply, since, event) {
    ensure(reply.ok, () => `${event} from ${since} was refused: ${JSON.stringify(reply.error)}`);
    const version = reply.document?.version ?? reply.from + reply.updates.length;
    ensure(this.version === null || this.version === version, () => `${event} says version ${version}, received was ${this.version}`);
    if (since !== undefined) ensure(reply.from === since, () => `asked from ${since}, answered from ${reply.from}`);
    reply.updates?.forEach((update, at) => this.listener.onUpdate(since + at + 1, update));
    this.listener.replica?.applyJoinReply(reply, this.version !== null);
    this.version = version;
    return reply;
  }

  close() {
    this.socket.disconnect();
  }
}
