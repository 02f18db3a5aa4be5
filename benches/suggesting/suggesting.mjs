/**
 * Compares suggesting with writing: processor time of the server for a key, and the time until what
 * was typed is stored while 50 people type into one document.
 *
 *     cargo build --release
 *     node benches/suggesting/suggesting.mjs target/release/copydesk web/node_modules [ROUNDS]
 *
 * Both are measured in turn on one server, because machines differ; only the ratios mean something.
 * Linux only: processor times come from /proc.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'

const [program, modules, rounds = '3'] = process.argv.slice(2)
const { io } = createRequire(join(resolve(modules), 'package.json'))('socket.io-client')
const TOKEN = 'cdk_bench_of_suggesting'
const SECONDS = 10
/** Time between two keys of a person. */
const KEY_MS = 200
/** Shortest time between two messages of a suggester, as in the editor. */
const BATCH_MS = 300
/** Length of a processor tick in /proc. */
const TICK_MS = 10
const OPEN_HUNKS = 20
const PARAGRAPH =
  'The keeper wrote every night in the tower. He had few visitors there, and the lamp went out at nine.\n\n'
const TEXT = PARAGRAPH.repeat(60)
const WORDS = 'some words that are typed one letter after the other, and then more of them '

const pause = (ms) => new Promise((done) => setTimeout(done, ms))

function ask(socket, event, payload) {
  return new Promise((done, fail) =>
    socket.emit(event, payload, (answer) =>
      answer.ok ? done(answer) : fail(new Error(`${event}: ${JSON.stringify(answer.error)}`)),
    ),
  )
}

function connected(url, token) {
  const auth = { token, protocol: 1, capabilities: ['presence-changes', 'comments'] }
  const socket = io(url, { auth, transports: ['websocket'], forceNew: true })
  return new Promise((done, fail) => {
    socket.once('sessionRegistered', () => done(socket))
    socket.once('connect_error', fail)
  })
}

/** A person in a document, who types a letter at a time at the beginning of a paragraph. */
class Typist {
  static async arrive(url, token, document, paragraph) {
    const typist = new Typist()
    typist.socket = await connected(url, token)
    typist.socket.on('document:updates', ({ from, updates }) => {
      typist.version = from + updates.length
    })
    const opened = await ask(typist.socket, 'document:open', { documentId: document })
    typist.clientID = opened.clientID
    typist.version = opened.document.version
    typist.firstVersion = typist.version
    typist.length = opened.document.text.length
    return Object.assign(typist, {
      document,
      paragraph,
      keys: 0,
      times: [],
      others: 0,
      revision: 0,
    })
  }

  /** Every update has put in one letter. */
  async write() {
    const length = this.length + this.version - this.firstVersion
    const changes = [[0, WORDS[this.keys % WORDS.length]], length]
    const updates = [{ clientID: this.clientID, changes }]
    const push = { documentId: this.document, version: this.version, updates }
    await ask(this.socket, 'document:push', push)
  }

  /** The whole suggestion: words in `others` more paragraphs, and what was typed so far. */
  async suggest() {
    const start = PARAGRAPH.length * this.paragraph
    const typed = WORDS.repeat(1 + Math.ceil(this.keys / WORDS.length)).slice(0, 1 + this.keys)
    const changes = [...(start > 0 ? [start] : []), [0, typed.slice(-160)]]
    let at = start
    for (let other = 1; other <= this.others; other++) {
      const next = start + PARAGRAPH.length * other
      changes.push(next - at, [0, 'Very '])
      at = next
    }
    changes.push(this.length - at)
    const { document: documentId, version, revision } = this
    const update = { documentId, version, revision, changes }
    this.revision = (await ask(this.socket, 'suggestion:update', update)).revision
  }

  /** Types for some seconds with one message on its way at a time. */
  async type(send, shortest_ms) {
    const begun = performance.now()
    for (let sent = -Infinity; performance.now() < begun + SECONDS * 1_000; this.keys++) {
      const now = performance.now()
      if (now - sent >= shortest_ms) {
        sent = now
        await send.call(this)
        this.times.push(performance.now() - now)
      }
      await pause(Math.max(0, begun + (this.keys + 1) * KEY_MS - performance.now()))
    }
  }
}

const server = { data: mkdtempSync(join(tmpdir(), 'copydesk-bench-')) }
const options = ['--listen', '127.0.0.1:0', '--data', server.data, '--token', TOKEN]
server.process = spawn(program, options, { stdio: ['ignore', 'pipe', 'ignore'] })
for await (const line of createInterface({ input: server.process.stdout })) {
  server.url = /listening on (\S+)/.exec(line)?.[1]
  if (server.url) break
}

/** Processor time of the server so far. */
function processorTime() {
  const fields = readFileSync(`/proc/${server.process.pid}/stat`, 'utf8').split(') ')[1].split(' ')
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS
}

async function tokenOf(name) {
  const answer = await fetch(`${server.url}/api/v1/tokens`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name, role: 'editor' }),
  })
  return (await answer.json()).token
}

const owner = await connected(server.url, TOKEN)
const tokens = await Promise.all(Array.from({ length: 50 }, (_, at) => tokenOf(`Typist ${at}`)))
const create = async () =>
  (await ask(owner, 'document:create', { title: 'bench', text: TEXT })).document.id

/** Processor time for a key of one person with 10 listeners, in milliseconds. */
async function forKey(send, shortest_ms, others) {
  const document = await create()
  const all = await Promise.all(
    tokens.slice(0, 11).map((token) => Typist.arrive(server.url, token, document, 0)),
  )
  const [typist] = all
  typist.others = others
  if (others > 0) await typist.suggest()
  await pause(3_000)
  const before = processorTime()
  await typist.type(send, shortest_ms)
  const used = processorTime() - before
  all.forEach(({ socket }) => socket.close())
  return used / typist.keys
}

/** The 99th percentile of the time until it is stored, of 50 people, in milliseconds. */
async function slowest(send, shortest_ms) {
  const document = await create()
  const all = await Promise.all(
    tokens.map((token, at) => Typist.arrive(server.url, token, document, at)),
  )
  await Promise.all(
    all.map(async (typist, at) => {
      await pause((at * KEY_MS) / all.length)
      await typist.type(send, shortest_ms)
    }),
  )
  const times = all.flatMap((typist) => typist.times).toSorted((a, b) => a - b)
  all.forEach(({ socket }) => socket.close())
  return times[Math.floor(times.length * 0.99)]
}

const { write, suggest } = Typist.prototype
for (let round = 1; round <= Number(rounds); round++) {
  const [writing, suggesting] = [
    await forKey(write, 0, 0),
    await forKey(suggest, BATCH_MS, OPEN_HUNKS - 1),
  ]
  console.log(
    `a key, processor ms: writing ${writing.toFixed(2)}, suggesting ${suggesting.toFixed(2)}, ratio ${(suggesting / writing).toFixed(2)}`,
  )
  const [writers, suggesters] = [await slowest(write, 0), await slowest(suggest, BATCH_MS)]
  console.log(
    `50 people, p99 ms: writing ${writers.toFixed(1)}, suggesting ${suggesters.toFixed(1)}, ratio ${(suggesters / writers).toFixed(2)}`,
  )
}
owner.close()
server.process.kill('SIGTERM')
server.process.once('exit', () => rmSync(server.data, { recursive: true }))
