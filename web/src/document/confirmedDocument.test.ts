import { ChangeSet } from '@codemirror/state'
import { expect, it } from 'vitest'
import type { ToolApprovalRequest, Hunk } from '../wire/generated.ts'
import { OutOfStep, ConfirmedDocument, parseChanges } from './confirmedDocument.ts'

const hunk = (id = 'h'): Hunk => ({
  id,
  request_id: 'r',
  status: 'pending',
  parts: [{ from: 4, to: 7, base: 'two', insert: '2' }],
})
const request = (version: number, hunks: Hunk[]) =>
  ({ request_id: 'r', version, hunks }) as unknown as ToolApprovalRequest
const edit = (length: number, from: number, to: number, insert: string) => ({
  clientID: 'x',
  changes: ChangeSet.of({ from, to, insert }, length).toJSON() as unknown,
})

it('follows the server update by update', () => {
  const confirmed = new ConfirmedDocument('one two', 3)
  confirmed.add(request(3, [hunk()]))
  confirmed.commit(edit(7, 0, 0, 'zero '))
  expect([confirmed.doc.toString(), confirmed.version, confirmed.hunks[0]?.parts[0]?.from]).toEqual(
    ['zero one two', 4, 9],
  )
})

it('refuses changes that do not fit, before anything happens', () => {
  const confirmed = new ConfirmedDocument('one two', 0)
  expect(() => confirmed.commit(edit(9, 0, 0, 'x'))).toThrow(OutOfStep)
  for (const bad of ['x', [[-1], 7], [7, 'x'], [[7, 'a\nb']], [[0, 1], 7], null])
    expect(() => parseChanges(bad, 7)).toThrow(OutOfStep)
  expect([confirmed.doc.toString(), confirmed.version]).toEqual(['one two', 0])
})

it('refuses hunks that do not fit', () => {
  const confirmed = new ConfirmedDocument('one', 0)
  expect(() => confirmed.change({ drop: [], put: [hunk()] })).toThrow(OutOfStep)
  expect(() => confirmed.add(request(1, []))).toThrow(OutOfStep)
})

it('shows hunks where they are in the words not sent yet', () => {
  const confirmed = new ConfirmedDocument('one two', 0)
  confirmed.add(request(0, [hunk()]))
  const local = ChangeSet.of({ from: 0, insert: 'ab' }, 7)
  expect(confirmed.project([local])[0]?.parts[0]).toMatchObject({ from: 6, to: 9 })
  expect(confirmed.hunks[0]?.parts[0]?.from).toBe(4)
})

it('drops and puts together', () => {
  const confirmed = new ConfirmedDocument('one two', 0)
  confirmed.add(
    request(0, [
      hunk('a'),
      { ...hunk('b'), parts: [{ from: 0, to: 3, base: 'one', insert: '1' }] },
    ]),
  )
  confirmed.change({ drop: ['a'], put: [{ ...hunk('b'), status: 'rejected' }] })
  expect(confirmed.hunks).toEqual([])
})

it('takes the list of an answer as complete', () => {
  const confirmed = new ConfirmedDocument('one two', 2)
  confirmed.add(request(2, [hunk('gone')]))
  const misfits = confirmed.replace([request(2, [hunk('new')]), request(1, [hunk('late')])])
  expect(confirmed.hunks.map((h) => h.id)).toEqual(['new'])
  expect(misfits).toHaveLength(1)
})

it('maps carets only from versions it remembers', () => {
  const confirmed = new ConfirmedDocument('one two', 5)
  confirmed.commit(edit(7, 0, 0, 'a'))
  expect([
    confirmed.since(6),
    confirmed.since(5)?.length,
    confirmed.since(4),
    confirmed.since(7),
  ]).toEqual([[], 1, null, null])
})
