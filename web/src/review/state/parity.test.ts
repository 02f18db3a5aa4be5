// The server replays the same cases (`tests/hunks.rs`): both sides must move pending changes alike,
// or they drift apart. After a deliberate change of the rules: COPYDESK_BLESS=1 npx vitest run
// parity
import { readFileSync, writeFileSync } from 'node:fs'
import { ChangeSet, Text } from '@codemirror/state'
import { expect, it } from 'vitest'
import type { Hunk, Part } from '../../wire/generated.ts'
import { rebaseHunk } from './hunk.ts'

const FIXTURE = new URL('../../../../fixtures/hunks/rebase.jsonl', import.meta.url)
const CASES = 500
const WORDS = ['a', 'lamp', 'burned', ' ', ' ', '. ', '\n', '😀', 'é', ', ']

/** Small and repeatable (mulberry32). */
function dice(seed: number): (sides: number) => number {
  let state = seed
  return (sides) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % sides
  }
}

const words = (roll: (sides: number) => number, most: number): string =>
  Array.from({ length: roll(most + 1) }, () => WORDS[roll(WORDS.length)]!).join('')

/** A place that is not inside an emoji. */
function place(roll: (sides: number) => number, doc: Text, from: number): number {
  const at = from + roll(doc.length - from + 1)
  return /^[\udc00-\udfff]/.test(doc.sliceString(at, at + 1)) ? at + 1 : at
}

function parts(roll: (sides: number) => number, doc: Text): Part[] {
  const found: Part[] = []
  for (let at = 0, left = 1 + roll(3); left > 0 && at <= doc.length; left--) {
    const from = place(roll, doc, at)
    const to = roll(3) === 0 ? from : Math.min(place(roll, doc, from), from + 9)
    const whole = /^[\udc00-\udfff]/.test(doc.sliceString(to, to + 1)) ? to + 1 : to
    found.push({
      from,
      to: whole,
      base: doc.sliceString(from, whole),
      insert: `<${words(roll, 1)}>`,
    })
    at = whole + 1
  }
  return found
}

/** An edit: now and then one that takes the last one back, or hits the words of a part exactly. */
function change(
  roll: (sides: number) => number,
  doc: Text,
  hunk: Hunk,
  last: ChangeSet | undefined,
  before: Text | undefined,
): ChangeSet {
  if (last && before && roll(3) === 0) return last.invert(before)
  const hit = hunk.parts[roll(hunk.parts.length)]
  if (hit && roll(3) === 0)
    return ChangeSet.of(
      { from: hit.from, to: hit.to, insert: roll(2) === 0 ? '' : words(roll, 1) },
      doc.length,
    )
  const from = place(roll, doc, 0)
  const to = roll(2) === 0 ? from : Math.min(place(roll, doc, from), from + 6)
  const whole = /^[\udc00-\udfff]/.test(doc.sliceString(to, to + 1)) ? to + 1 : to
  const one = ChangeSet.of({ from, to: whole, insert: words(roll, 2) }, doc.length)
  // Two edits, side by side more often than not: one update may hold several.
  return roll(3) > 0 ? one : one.compose(beside(roll, one.apply(doc), one.mapPos(whole, 1)))
}

function beside(roll: (sides: number) => number, doc: Text, at: number): ChangeSet {
  const from = roll(2) === 0 ? at : place(roll, doc, at)
  const to = place(roll, doc, from)
  return ChangeSet.of({ from, to, insert: words(roll, 1) }, doc.length)
}

function play(seed: number): string {
  const roll = dice(seed)
  const text = words(roll, 14)
  let doc = Text.of(text.split('\n'))
  let hunk: Hunk = { id: 'h', request_id: 'r', status: 'pending', parts: parts(roll, doc) }
  const start = hunk.parts
  const steps: { changes: unknown; status: string; places: number[][] }[] = []
  let last: ChangeSet | undefined
  let before: Text | undefined
  for (let step = 1 + roll(6); step > 0; step--) {
    const changes = change(roll, doc, hunk, last, before)
    if (changes.empty) continue
    ;[last, before] = [changes, doc]
    doc = changes.apply(doc)
    hunk = rebaseHunk(hunk, changes, doc)
    steps.push({
      changes: changes.toJSON() as unknown,
      status: hunk.status,
      places: hunk.parts.map((part) => [part.from, part.to, part.conflict ? 1 : 0]),
    })
    if (hunk.status === 'obsolete') break
  }
  return JSON.stringify({ seed, text, parts: start, steps })
}

it('moves changes as the recorded cases say', () => {
  const played = Array.from({ length: CASES }, (_, seed) => play(seed)).join('\n') + '\n'
  if (process.env.COPYDESK_BLESS) writeFileSync(FIXTURE, played)
  expect(played).toBe(readFileSync(FIXTURE, 'utf8'))
  for (const status of ['pending', 'conflict', 'obsolete'])
    expect(played.split(`"status":"${status}"`).length).toBeGreaterThan(20)
})
