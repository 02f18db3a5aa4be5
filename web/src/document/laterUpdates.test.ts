import { ChangeSet } from '@codemirror/state'
import { expect, it } from 'vitest'
import { ConfirmedDocument } from './confirmedDocument.ts'
import { laterUpdates } from './laterUpdates.ts'

const update = (length: number, insert: string, clientID = 'theirs') => ({
  clientID,
  changes: ChangeSet.of({ from: 0, insert }, length).toJSON() as unknown,
})

/** At version 7, two updates later than it was loaded. */
function confirmed(): ConfirmedDocument {
  const document = new ConfirmedDocument('text', 5)
  document.commit(update(4, 'a'))
  document.commit(update(5, 'b'))
  return document
}

const names = (updates: ReturnType<typeof laterUpdates>) => updates?.map(({ clientID }) => clientID)

it('goes on from the answer to what came since, and no further than our copy', () => {
  const answer = { from: 4, updates: [update(3, 't', 'ours'), update(4, 'a')] }
  expect(names(laterUpdates(answer, 4, confirmed()))).toEqual(['ours', 'theirs', null])
  const ahead = { from: 6, updates: [update(5, 'b'), update(6, 'not here yet')] }
  expect(names(laterUpdates(ahead, 6, confirmed()))).toEqual(['theirs'])
})

it('does not know what is too old, of another version or makes no sense', () => {
  expect(laterUpdates({}, 4, confirmed())).toBeNull()
  expect(laterUpdates({ from: 3, updates: [] }, 2, confirmed())).toBeNull()
  const gap = { from: 4, updates: [update(3, 't'), update(9, 'a')] }
  expect(laterUpdates(gap, 4, confirmed())).toBeNull()
  const wrong = { from: 6, updates: [{ clientID: 'theirs', changes: ['x'] }] }
  expect(laterUpdates(wrong, 6, confirmed())).toBeNull()
})
