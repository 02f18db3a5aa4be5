import { EditorState, type TransactionSpec } from '@codemirror/state'
import type { ViewUpdate } from '@codemirror/view'
import { beforeEach, expect, it } from 'vitest'
import { setFrozen } from '../document/effects.ts'
import { useToasts } from '../ui/toasts.ts'
import { frozenField, frozenIn, sayWhatEnded } from './field.ts'

const said = () => useToasts.getState().toasts.map(({ text }) => text)

/** Returns the notes after this happens to "one two three", of which "two" is frozen. */
function happens(spec: TransactionSpec): EditorState {
  const first = EditorState.create({ doc: 'one two three', extensions: [frozenField] })
  const before = first.update({ effects: setFrozen.of([{ from: 4, to: 7 }]) }).state
  const tr = before.update(spec)
  sayWhatEnded({ transactions: [tr] as readonly unknown[] } as ViewUpdate)
  return tr.state
}

beforeEach(() => useToasts.setState({ toasts: [] }))

it('says that freezing ended when all frozen words are deleted', () => {
  expect(frozenIn(happens({ changes: { from: 4, to: 8 } }))).toEqual([])
  expect(said()).toEqual(['Frozen words were deleted. Should they come back, freeze them again.'])
})

it('says nothing while some of them stand, nor when somebody unfreezes them', () => {
  happens({ changes: { from: 4, to: 6 } })
  happens({ changes: { from: 0, to: 3 } })
  happens({ effects: setFrozen.of([]) })
  expect(said()).toEqual([])
})
