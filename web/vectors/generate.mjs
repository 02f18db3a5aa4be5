// Writes fixtures/changesets/*.jsonl: what the real @codemirror/state and @codemirror/collab make of random changes.
// `cargo test --test parity` replays them byte for byte against `crates/document/src`. One case per line, each a JSON array:
//
//   of         [text, [[from, to, insert], …], json, result]           ChangeSet.of, apply; text and insert with any line ends
//   pairs      [text, a, b, next, result, a over b, a before b, b over a, a then next, inverse of a, result of both]
//              a and b change text, next changes a's result
//   positions  [length, a, mapped, touched]                            see `positions`
//   refused    [text, json, "string" | "position"]                     half a surrogate pair in a string, or at a boundary
//   sessions   [text, [[version, client, [json, …], [committed json, …]], …], result]
//
//   node web/vectors/generate.mjs [FOLDER]                             the same bytes on every run

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ChangeSet, EditorState, MapMode, Text } from '@codemirror/state'
import { collab, getSyncedVersion, receiveUpdates, sendableUpdates } from '@codemirror/collab'

const COUNTS = { of: 5000, pairs: 9000, positions: 4000, refused: 1500, sessions: 1500 }

const TOKENS = [
  ...'abcdeABC xyz  ., 019',
  'the ',
  'word',
  '\n',
  '\n',
  '\r\n',
  '\r',
  '"',
  '\\',
  '\t',
  '\0',
  '\x7f',
  '\b',
  '\f',
  '\v',
  '\x1f',
  'é',
  'e\u0301',
  'ß',
  '漢',
  '字',
  'א',
  'ש',
  '\u200f',
  '\ufeff',
  '\u2028',
  '\u2029',
  '\u0085',
  '\u00a0',
  '😀',
  '🎉',
  '𝒜',
  '🇩🇪',
  '👨‍👩‍👧',
  '👍🏽',
  '❤️',
  '\u{10ffff}',
]

/** mulberry32: small, seeded, the same everywhere. */
function random(seed) {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
  const below = (n) => Math.floor(next() * n)
  return { below, chance: (p) => next() < p, pick: (list) => list[below(list.length)] }
}

const split = (text) => Text.of(text.split(/\r\n?|\n/))
const string = (r, most) => Array.from({ length: r.below(most + 1) }, () => r.pick(TOKENS)).join('')

/** Positions of a text that are not inside a surrogate pair. */
function boundaries(doc) {
  const at = [0]
  for (const character of doc.toString()) at.push(at.at(-1) + character.length)
  return at
}

function edit(r, places, most = 4) {
  const one = r.pick(places)
  const other = r.chance(0.4)
    ? one
    : places[Math.min(places.length - 1, Math.max(0, places.indexOf(one) + r.below(9) - 4))]
  return {
    from: Math.min(one, other),
    to: Math.max(one, other),
    insert: r.chance(0.3) ? '' : string(r, most),
  }
}

/** Edits of one text, sorted and apart or not. */
function edits(r, places, most = 4) {
  const list = Array.from({ length: 1 + r.below(4) }, () => edit(r, places, most))
  if (r.chance(0.3)) return list
  list.sort((a, b) => a.from - b.from || a.to - b.to)
  return list.filter((e, i) => i == 0 || e.from >= list[i - 1].to)
}

const simple = (r, doc) => ChangeSet.of(edits(r, boundaries(doc)), doc.length)

/** A text, and changes of it with the section shapes that only inverting and mapping give. */
function scene(r, most) {
  const before = split(string(r, most)),
    [first, second] = [simple(r, before), simple(r, before)]
  return {
    doc: first.apply(before),
    derived: [first.invert(before), second.map(first), second.map(first, true)],
  }
}

function change(r, { doc, derived }) {
  const a = r.chance(0.3) ? r.pick(derived) : simple(r, doc)
  return r.chance(0.3) ? a.compose(simple(r, a.apply(doc))) : a
}

function ofCase(r) {
  const text = string(r, 20),
    doc = split(text),
    list = edits(r, boundaries(doc))
  const set = ChangeSet.of(list, doc.length)
  return [text, list.map((e) => [e.from, e.to, e.insert]), json(set), set.apply(doc).toString()]
}

function pairCase(r) {
  const start = scene(r, 16),
    { doc } = start
  const a = change(r, start),
    b = change(r, start),
    next = simple(r, a.apply(doc))
  const both = a.compose(b.map(a)).apply(doc)
  if (!both.eq(b.compose(a.map(b, true)).apply(doc)))
    throw new Error('the two orders do not lead to the same text')
  return [
    doc.toString(),
    json(a),
    json(b),
    json(next),
    json(a.map(b)),
    json(a.map(b, true)),
    json(b.map(a)),
    json(a.compose(next)),
    json(a.invert(doc)),
    both.toString(),
  ]
}

const MODES = [MapMode.Simple, MapMode.TrackDel, MapMode.TrackBefore, MapMode.TrackAfter]

/**
 * `mapped`: for every mode, for assoc -1 and 1, for every position: where it is mapped to, or null.
 * `touched`: for every `from`, for every `to` from there: 0 no, 1 touches, 2 covers.
 */
function positionsCase(r) {
  const start = scene(r, 5),
    a = change(r, start),
    { length } = start.doc
  const all = Array.from({ length: length + 1 }, (_, at) => at)
  const mapped = MODES.flatMap((mode) =>
    [-1, 1].map((assoc) => all.map((at) => a.mapPos(at, assoc, mode))),
  )
  if (all.some((at) => a.mapPos(at, 0) != a.mapPos(at, 1)))
    throw new Error('assoc 0 is not assoc 1')
  const touch = (from, to) => ({ false: 0, true: 1, cover: 2 })[a.touchesRange(from, to)]
  return [
    length,
    json(a),
    mapped,
    all
      .map((from) =>
        all
          .slice(from)
          .map((to) => touch(from, to))
          .join(''),
      )
      .join(' '),
  ]
}

/** A change as an editor writes it when an input method cuts an emoji in two. */
function refusedCase(r) {
  const text = string(r, 8) + r.pick(['😀', '𝒜', '🇩🇪', '👍🏽']) + string(r, 8),
    doc = split(text)
  const inside = Array.from({ length: doc.length }, (_, at) => at).filter(
    (at) => !boundaries(doc).includes(at),
  )
  const at = r.pick(inside),
    insert = r.pick(['', 'x', '\ud83d', '\ude01', 'a\udc00', '😀'])
  const edit = r.pick([
    { from: at, insert: insert || 'y' },
    { from: at - 1, to: at, insert },
    { from: at, to: at + 1, insert },
  ])
  const set = ChangeSet.of(edit, doc.length),
    lone = /[\ud800-\udfff]/u.test(insert)
  return [doc.toString(), json(set), lone ? 'string' : 'position']
}

/** The authority: rebases over one update at a time and recognises what it has already. */
class Authority {
  constructor(doc) {
    this.doc = doc
    this.log = []
  }

  push(version, updates) {
    for (const missed of this.log.slice(version)) {
      if (updates[0]?.clientID == missed.clientID) {
        updates = updates.slice(1)
        continue
      }
      let over = missed.changes
      updates = updates.map(({ clientID, changes }) => {
        const moved = changes.map(over)
        over = over.map(changes, true)
        return { clientID, changes: moved }
      })
    }
    for (const { changes } of updates) this.doc = changes.apply(this.doc)
    this.log.push(...updates)
    return updates
  }
}

/** An editor far away: what it sends arrives later, twice, or not at all until it is sent again. */
class Client {
  constructor(doc, clientID) {
    this.clientID = clientID
    this.sent = []
    this.state = EditorState.create({ doc, extensions: collab({ clientID }) })
  }

  edit(r) {
    const places = boundaries(this.state.doc),
      count = r.chance(0.8) ? 1 : 2
    const changes = Array.from({ length: count }, () => edit(r, places, 3))
    this.state = this.state.update({ changes }).state
  }

  send() {
    const updates = sendableUpdates(this.state).map(({ clientID, changes }) => ({
      clientID,
      changes,
    }))
    if (updates.length) this.sent.push([getSyncedVersion(this.state), updates])
  }

  pull(authority, most) {
    const version = getSyncedVersion(this.state)
    for (const update of authority.log.slice(version, version + most))
      this.state = receiveUpdates(this.state, [update]).state
  }
}

function sessionCase(r) {
  const doc = split(string(r, 10)),
    authority = new Authority(doc),
    pushes = []
  const clients = Array.from({ length: 2 + r.below(4) }, (_, i) => new Client(doc, 'abcdef'[i]))
  const arrive = (client, at) => {
    const [version, updates] = client.sent[at]
    if (!r.chance(0.2)) client.sent.splice(at, 1)
    pushes.push([
      version,
      client.clientID,
      updates.map((u) => json(u.changes)),
      authority.push(version, updates).map((u) => json(u.changes)),
    ])
  }
  for (let step = 12 + r.below(14); step > 0; step--) {
    const client = r.pick(clients),
      act = r.below(10)
    if (act < 4) client.edit(r)
    else if (act < 6) client.send()
    else if (act < 8 && client.sent.length) arrive(client, r.below(client.sent.length))
    else client.pull(authority, 1 + r.below(4))
  }
  for (const client of clients) {
    client.send()
    if (client.sent.length) arrive(client, client.sent.length - 1)
  }
  for (const client of clients) {
    client.pull(authority, Infinity)
    if (!client.state.doc.eq(authority.doc) || sendableUpdates(client.state).length)
      throw new Error('the clients did not converge')
  }
  return [doc.toString(), pushes, authority.doc.toString()]
}

const json = (set) => JSON.stringify(set)

const CASES = {
  of: ofCase,
  pairs: pairCase,
  positions: positionsCase,
  refused: refusedCase,
  sessions: sessionCase,
}

const folder =
  process.argv[2] ?? join(fileURLToPath(import.meta.url), '../../../fixtures/changesets')
mkdirSync(folder, { recursive: true })
for (const [index, [name, makeCase]] of Object.entries(CASES).entries()) {
  const r = random(20_000 + index)
  const lines = Array.from({ length: COUNTS[name] }, () => JSON.stringify(makeCase(r)))
  writeFileSync(join(folder, `${name}.jsonl`), lines.join('\n') + '\n')
}
