import { ChangeSet, Text } from '@codemirror/state'
import { describe, expect, it } from 'vitest'
import type { Hunk, Part } from '../../wire/generated.ts'
import {
  baseText,
  canSplit,
  currentText,
  fits,
  inOrder,
  isPartOf,
  proposedText,
  rebaseHunk,
  received,
} from './hunk.ts'

const TEXT = 'The town believes she counts wrecks.'
const text = (words: string) => Text.of(words.split('\n'))
const part = (base: string, insert: string, doc = TEXT): Part => ({
  from: doc.indexOf(base),
  to: doc.indexOf(base) + base.length,
  base,
  insert,
})
const hunk = (...parts: Part[]): Hunk => ({ id: 'h1', request_id: 'r1', status: 'pending', parts })
const verb = () => hunk(part('believes', 'believed'))

/** The hunk and the text after edits made one after the other. */
function type(
  start: Hunk,
  ...edits: [from: number, to: number, insert: string][]
): { hunk: Hunk; doc: Text } {
  return edits.reduce(
    ({ hunk, doc }, [from, to, insert]) => {
      const changes = ChangeSet.of({ from, to, insert }, doc.length)
      const after = changes.apply(doc)
      return { hunk: rebaseHunk(hunk, changes, after), doc: after }
    },
    { hunk: start, doc: text(TEXT) },
  )
}

describe('a pending change while people type', () => {
  it('moves with its words', () => {
    const { hunk, doc } = type(verb(), [0, 0, 'Yes. '])
    expect(hunk.status).toBe('pending')
    expect(currentText(hunk, doc)).toBe('believes')
  })

  it('leaves typing at either edge outside', () => {
    const { hunk, doc } = type(verb(), [9, 9, 'x'], [18, 18, 'y'])
    expect(hunk.status).toBe('pending')
    expect(currentText(hunk, doc)).toBe('believes')
  })

  it('conflicts when a word is typed strictly inside it', () => {
    expect(type(verb(), [12, 12, 'x']).hunk.status).toBe('conflict')
  })

  it('conflicts when some of its words are deleted', () => {
    expect(type(verb(), [7, 11, '']).hunk.status).toBe('conflict')
  })

  it('does not conflict when a deletion only touches its edge', () => {
    expect(type(verb(), [4, 9, ''], [12, 12, '']).hunk.status).toBe('pending')
  })

  it('clears when the words are back', () => {
    const typed = type(verb(), [12, 12, 'x'])
    expect(typed.hunk.status).toBe('conflict')
    const { hunk, doc } = type(verb(), [12, 12, 'x'], [12, 13, ''])
    expect(hunk.status).toBe('pending')
    expect(currentText(hunk, doc)).toBe('believes')
  })

  it('takes in what is typed at its edges while in conflict, so that it can clear', () => {
    const { hunk, doc } = type(verb(), [9, 11, ''], [9, 9, 'be'])
    expect(currentText(hunk, doc)).toBe('believes')
    expect(hunk.status).toBe('pending')
  })

  it('is obsolete when all its words are deleted', () => {
    expect(type(verb(), [9, 17, '']).hunk.status).toBe('obsolete')
  })

  it('lives on when only one of its two places is deleted', () => {
    const two = hunk(part('believes', 'believed'), part('counts', 'counted'))
    const { hunk: after } = type(two, [9, 17, ''])
    expect(after.status).toBe('conflict')
    expect(after.parts.map((p) => p.conflict ?? false)).toEqual([true, false])
  })

  it('stays in conflict as long as one part is', () => {
    const two = hunk(part('believes', 'believed'), part('counts', 'counted'))
    const { hunk: after } = type(two, [12, 12, 'x'], [25, 25, 'y'], [12, 13, ''])
    expect(after.status).toBe('conflict')
    expect(after.parts.map((p) => p.conflict ?? false)).toEqual([false, true])
  })
})

describe('an insertion', () => {
  const added = () => hunk({ from: 9, to: 9, base: '', insert: 'long ' })

  it('stays behind words typed at its place', () => {
    const { hunk } = type(added(), [9, 9, 'abc'])
    expect(hunk.parts[0]).toMatchObject({ from: 12, to: 12 })
    expect(hunk.status).toBe('pending')
  })

  it('loses its place for good when a deletion covers it', () => {
    const { hunk } = type(added(), [7, 11, ''], [7, 7, 'n be'])
    expect(hunk.status).toBe('conflict')
  })
})

describe('what the server sends', () => {
  it('is drawn only if its positions fit the text', () => {
    expect(fits(verb(), text(TEXT))).toBe(true)
    expect(fits(verb(), text('short'))).toBe(false)
    expect(fits(hunk({ from: 9, to: 17, base: 'something', insert: '' }), text(TEXT))).toBe(false)
    expect(fits(hunk({ from: 9.5, to: 17, base: 'believes', insert: '' }), text(TEXT))).toBe(false)
    expect(fits(hunk({ from: -1, to: 8, base: 'believes', insert: '' }), text(TEXT))).toBe(false)
  })

  it('is drawn also where parts in conflict reach over each other, and no word is told twice', () => {
    const wide = { from: 9, to: 17, base: 'was', insert: 'is', conflict: true }
    const inner = { from: 12, to: 15, base: 'there', insert: 'here', conflict: true }
    const both = { ...hunk(wide, inner), status: 'conflict' as const }
    expect(fits(both, text(TEXT))).toBe(true)
    expect(
      proposedText(
        { ...both, parts: [wide, inner, { from: 17, to: 17, base: '', insert: '!' }] },
        text(TEXT),
      ),
    ).toBe('ishere!')
  })

  it('tells which part is in conflict by the words that stand there', () => {
    const doc = text(TEXT.replace('believes', 'beXlieves'))
    const arrived: Hunk = {
      ...hunk(
        { from: 9, to: 18, base: 'believes', insert: 'believed' },
        { from: 23, to: 29, base: 'counts', insert: 'counted' },
      ),
      status: 'conflict',
    }
    expect(received(arrived, doc).parts.map((p) => p.conflict ?? false)).toEqual([true, false])
  })
})

it('reads as it was and as it would be', () => {
  const two = hunk(part('believes', 'believed'), part('counts', 'counted'))
  expect(baseText(two, text(TEXT))).toBe('believes she counts')
  expect(proposedText(two, text(TEXT))).toBe('believed she counted')
})

it('is numbered in reading order, by id where places are equal', () => {
  const at = (id: string, from: number): Hunk => ({
    ...hunk({ from, to: from, base: '', insert: 'x' }),
    id,
  })
  expect([at('c', 5), at('b', 2), at('a', 5)].sort(inOrder).map((h) => h.id)).toEqual([
    'b',
    'a',
    'c',
  ])
})

it('splits what is open and changes several places, and not what moves', () => {
  const [one, two] = [
    { from: 0, to: 1, base: 'a', insert: 'b' },
    { from: 2, to: 3, base: 'c', insert: 'd' },
  ]
  const whole: Hunk = { id: 'w', request_id: 'r', status: 'pending', parts: [one, two] }
  const able = [
    whole,
    { ...whole, status: 'conflict' as const },
    { ...whole, status: 'accepted' as const },
    { ...whole, kind: 'moved' as const },
    { ...whole, parts: [one] },
  ]
  expect(able.map(canSplit)).toEqual([true, true, false, false, false])
  expect(isPartOf({ ...whole, id: 'w.1', parts: [two] }, whole)).toBe(true)
  expect(isPartOf({ ...whole, id: 'x', parts: [{ ...two, insert: 'e' }] }, whole)).toBe(false)
  expect(isPartOf({ ...whole, id: 'x', parts: [one] }, { ...whole, parts: [one] })).toBe(false)
})
