// A reviewer with a rule: accepts small changes of a document and leaves the others to people.
// See README.md beside this file for how to run it.
import { parseArgs } from 'node:util';
import { io } from 'socket.io-client';

const { values: options, positionals: [documentId] } = parseArgs({
  allowPositionals: true,
  options: {
    'up-to': { type: 'string', default: '12' },
    ask: { type: 'string' },
    once: { type: 'boolean', default: false },
  },
});
const upTo = Number(options['up-to']);
if (!documentId || !Number.isInteger(upTo)) {
  console.error('usage: node review.mjs DOCUMENT [--up-to N] [--ask PROMPT] [--once]');
  process.exit(2);
}

const url = process.env.COPYDESK_URL ?? 'http://127.0.0.1:4680';
const socket = io(url, { auth: { token: process.env.TOKEN, name: 'reviewer' } });

/** Sends an event; the fields of its acknowledgement, or an error with the server's code. */
async function send(event, payload) {
  const { ok, error, ...answer } = await socket.timeout(20_000).emitWithAck(event, payload);
  if (!ok) throw Object.assign(new Error(error.message), { code: error.code });
  return answer;
}

/** Deleted and inserted UTF-16 code units together, as the server counts them. */
const size = ({ parts }) => parts.reduce((sum, part) => sum + part.base.length + part.insert.length, 0);

/** A change as words: what goes and what comes. */
const words = ({ parts }) => parts.map((part) => `[-${part.base}-]{+${part.insert}+}`).join(' … ');

const seen = new Set();

/** Accepts the small changes of a request, once. */
async function review({ request_id, preview_hash, document_id, hunks }) {
  if (document_id !== documentId || seen.has(request_id)) return;
  seen.add(request_id);
  const open = hunks.filter((hunk) => hunk.status === 'pending');
  const small = open.filter((hunk) => size(hunk) <= upTo);
  for (const hunk of open) console.log(small.includes(hunk) ? 'accept' : 'leave ', words(hunk));
  if (small.length > 0) {
    try {
      const decisions = small.map(({ id }) => ({ id, decision: 'accept' }));
      const { status } = await send('tool_approval_response', { request_id, preview_hash, approved: true, hunks: decisions });
      console.log(`${request_id} is ${status}; ${open.length - small.length} changes are left to people`);
    } catch (error) {
      // Others review too: the first decision wins, and the text may have changed since.
      console.log(`${request_id} was not decided: ${error.message} (${error.code})`);
    }
  }
  if (options.once) socket.close();
}

socket.on('connect_error', (error) => {
  console.error(`cannot connect to ${url}: ${error.message}`);
  if (!socket.active) process.exitCode = 1;
});
socket.on('sessionEnded', ({ message }) => console.error(message));
socket.on('tool_approval_request', review);
socket.on('sessionRegistered', async ({ sessionId }) => {
  try {
    const { requests } = await send('document:open', { documentId });
    for (const request of requests) await review(request);
    const prompt = options.ask;
    // After a reconnect the question has been asked already.
    delete options.ask;
    if (prompt && socket.connected) await send('askClaudeCode', { sessionId, prompt, context: { documentId } });
  } catch (error) {
    console.error(`${error.message} (${error.code})`);
    process.exitCode = 1;
    socket.close();
  }
});
