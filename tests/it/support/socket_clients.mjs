// Real socket.io clients for the stories: one process, many sockets, JSON lines in and out. In:
// {op: "connect" | "emit" | "burst" | "drop" | "disconnect", socket, …} Out: {socket, kind:
// "connected" | "refused" | "event" | "ack" | "disconnected", …}, in the order the client saw them.
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { join } from "node:path";

const require = createRequire(join(process.argv[2], "anchor.js"));
const { io } = require("socket.io-client");
const sockets = new Map();

function say(line) {
  process.stdout.write(JSON.stringify(line) + "\n");
}

/** `{"$binary": n}` stands for n bytes, which JSON cannot say. */
function revive(value) {
  return JSON.parse(JSON.stringify(value), (_, it) => (it && it.$binary !== undefined ? Buffer.alloc(it.$binary) : it));
}

function connect({ socket: name, url, options }) {
  const socket = io(url, { forceNew: true, reconnection: false, ...options });
  sockets.set(name, socket);
  socket.on("connect", () => say({ socket: name, kind: "connected", name: socket.id }));
  socket.on("connect_error", (error) => say({ socket: name, kind: "refused", name: error.message, body: null }));
  socket.on("disconnect", (reason) => say({ socket: name, kind: "disconnected", name: reason }));
  socket.onAny((event, ...args) => say({ socket: name, kind: "event", name: event, body: args[0] ?? null }));
}

function answered(name, event, ack) {
  return (...args) => say({ socket: name, kind: "ack", name: event, ack, body: args[0] ?? null });
}

function emit({ socket: name, event, args, raw, ack }) {
  const socket = sockets.get(name);
  const done = answered(name, event, ack);
  if (raw === undefined) return socket.emit(event, ...revive(args), done);
  // A packet as it stands: JSON that `JSON.stringify` would not write.
  const id = socket.ids++;
  socket.acks[id] = done;
  socket.io.engine.write(`2${id}${raw}`);
}

function burst({ socket: name, event, args, first, count }) {
  const socket = sockets.get(name);
  for (let at = 0; at < count; at++) socket.emit(event, ...args, answered(name, event, first + at));
}

const operations = {
  connect,
  emit,
  burst,
  drop: ({ socket }) => sockets.get(socket).io.engine.close(),
  disconnect: ({ socket }) => {
    sockets.get(socket)?.disconnect();
    sockets.delete(socket);
  },
};

createInterface({ input: process.stdin })
  .on("line", (line) => {
    const message = JSON.parse(line);
    operations[message.op](message);
  })
  .on("close", () => process.exit(0));
