import { EditorState, Text, Transaction } from '@codemirror/state'
import { describe, expect, it } from 'vitest'
import { splitsPair, wholeCharacters, widen } from './surrogates.ts'

const doc = Text.of(['a😀b'])

describe('half an emoji', () => {
  it('is recognised', () => {
    expect([0, 1, 2, 3, 4].map((at) => splitsPair(doc, at))).toEqual([
      false,
      false,
      true,
      false,
      false,
    ])
  })

  it('is never deleted', () => {
    expect(widen(doc, [{ from: 2, to: 3, insert: '' }])).toEqual([{ from: 1, to: 3, insert: '' }])
    expect(widen(doc, [{ from: 1, to: 3, insert: '' }])).toBeNull()
  })

  it('replaced by another half becomes a whole replacement', () => {
    expect(widen(doc, [{ from: 2, to: 3, insert: '\ude02' }])).toEqual([
      { from: 1, to: 3, insert: '😂' },
    ])
  })

  it('typed into is pushed out of the pair', () => {
    const state = EditorState.create({ doc, extensions: wholeCharacters })
    const after = state.update({ changes: { from: 2, insert: 'x' } }).state.doc.toString()
    expect(after).toBe('a😀xb')
  })

  it('joins edits that meet after widening', () => {
    expect(
      widen(doc, [
        { from: 1, to: 2, insert: '' },
        { from: 2, to: 3, insert: '' },
      ]),
    ).toHaveLength(1)
  })
})

it('leaves what the server sent alone', () => {
  const state = EditorState.create({ doc, extensions: wholeCharacters })
  const changes = state.changes({ from: 0, insert: 'é' })
  const tr = state.update({ changes, annotations: Transaction.remote.of(true) })
  expect(tr.changes).toBe(changes)
})
