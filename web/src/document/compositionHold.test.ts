import { collab } from '@codemirror/collab'
import { ChangeSet, EditorState } from '@codemirror/state'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { CompositionHold, touchesCaretLine } from './compositionHold.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function holding() {
  const released: string[] = []
  const input = { composing: true }
  const hold = new CompositionHold<string>(
    () => input.composing,
    (message) => released.push(message),
    () => undefined,
  )
  return { hold, input, released }
}

it('keeps what disturbs and all after it, and gives it back in order once the word is done', () => {
  const { hold, input, released } = holding()
  expect(hold.keep('elsewhere', () => false)).toBe(false)
  expect(hold.keep('here', () => true)).toBe(true)
  expect(hold.keep('elsewhere, later', () => false)).toBe(true)
  vi.advanceTimersByTime(1_000)
  expect([hold.isHolding, released]).toEqual([true, []])
  input.composing = false
  vi.advanceTimersByTime(100)
  expect([hold.isHolding, released]).toEqual([false, ['here', 'elsewhere, later']])
})

it('keeps nothing while nobody composes', () => {
  const { hold, input } = holding()
  input.composing = false
  expect(hold.keep('here', () => true)).toBe(false)
})

it('has the answer to joining wait for the word, but not for ever', async () => {
  const { hold, input } = holding()
  const done: string[] = []
  void hold.ended().then(() => done.push('composed'))
  await vi.advanceTimersByTimeAsync(1_000)
  expect(done).toEqual([])
  input.composing = false
  await vi.advanceTimersByTimeAsync(100)
  expect(done).toEqual(['composed'])
  input.composing = true
  void hold.ended().then(() => done.push('too long'))
  await vi.advanceTimersByTimeAsync(21_000)
  expect(done).toEqual(['composed', 'too long'])
})

it('does not wait for ever', () => {
  const { hold, released } = holding()
  hold.keep('here', () => true)
  vi.advanceTimersByTime(21_000)
  expect(released).toEqual(['here'])
})

it('forgets what the server says again', () => {
  const { hold, input, released } = holding()
  hold.keep('here', () => true)
  hold.clear()
  input.composing = false
  vi.advanceTimersByTime(1_000)
  expect(released).toEqual([])
})

const TEXT = 'one line\nthe line of the caret\nthe last line'

/**
 * Returns whether a change of another person touches the line in which `typed` was put at the
 * caret.
 */
function touches(from: number, to: number, insert = '', typed = 'に'): boolean {
  const caret = TEXT.indexOf('of the caret')
  const made = EditorState.create({
    doc: TEXT,
    selection: { anchor: caret },
    extensions: [collab({ startVersion: 3, clientID: 'ours' })],
  })
  const state = made.update(made.replaceSelection(typed)).state
  const changes = ChangeSet.of({ from, to, insert }, TEXT.length).toJSON() as unknown
  const update = { clientID: 'theirs', changes }
  const [documentId, before] = ['d', { clientID: 'theirs', changes: [TEXT.length] }]
  const whole = { updates: { documentId, from: 2, updates: [before, update] } }
  const short = { short: [1, 3, [['theirs', changes]]] }
  const [a, b] = [whole, short].map((message) => touchesCaretLine(state, 3, message as never))
  expect(a).toBe(b)
  return a!
}

it.each([
  ['at the beginning of the line', 9, 9, 'x', true],
  ['at its end', 30, 30, 'x', true],
  ['its line break goes', 8, 9, '', true],
  ['in the line before', 2, 4, 'x', false],
  ['in the line after', 31, 33, 'x', false],
])('sees whether a change disturbs the line: %s', (_, from, to, insert, expected) => {
  expect(touches(from, to, insert)).toBe(expected)
})
