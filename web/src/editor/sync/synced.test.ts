import { ChangeSet } from '@codemirror/state'
import { expect, it } from 'vitest'
import type { ToolApprovalRequest, Hunk } from '../../wire/generated.ts'
import { unsentWords } from './unsent.ts'
import { OutOfStep, Synced, parseChanges } from './synced.ts'

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
  const synced = new Synced('one two', 3)
  synced.add(request(3, [hunk()]))
  synced.commit(edit(7, 0, 0, 'zero '))
  expect([synced.doc.toString(), synced.version, synced.hunks[0]?.parts[0]?.from]).toEqual([
    'zero one two',
    4,
    9,
  ])
})

it('refuses changes that do not fit, before anything happens', () => {
  const synced = new Synced('one two', 0)
  expect(() => synced.commit(edit(9, 0, 0, 'x'))).toThrow(OutOfStep)
  for (const bad of ['x', [[-1], 7], [7, 'x'], [[7, 'a\nb']], [[0, 1], 7], null])
    expect(() => parseChanges(bad, 7)).toThrow(OutOfStep)
  expect([synced.doc.toString(), synced.version]).toEqual(['one two', 0])
})

it('refuses hunks that do not fit', () => {
  const synced = new Synced('one', 0)
  expect(() => synced.change({ drop: [], put: [hunk()] })).toThrow(OutOfStep)
  expect(() => synced.add(request(1, []))).toThrow(OutOfStep)
})

it('shows hunks where they are in the words not sent yet', () => {
  const synced = new Synced('one two', 0)
  synced.add(request(0, [hunk()]))
  const local = ChangeSet.of({ from: 0, insert: 'ab' }, 7)
  expect(synced.project([local])[0]?.parts[0]).toMatchObject({ from: 6, to: 9 })
  expect(synced.hunks[0]?.parts[0]?.from).toBe(4)
})

it('drops and puts together', () => {
  const synced = new Synced('one two', 0)
  synced.add(
    request(0, [
      hunk('a'),
      { ...hunk('b'), parts: [{ from: 0, to: 3, base: 'one', insert: '1' }] },
    ]),
  )
  synced.change({ drop: ['a'], put: [{ ...hunk('b'), status: 'rejected' }] })
  expect(synced.hunks).toEqual([])
})

it('takes the list of an answer as complete', () => {
  const synced = new Synced('one two', 2)
  synced.add(request(2, [hunk('gone')]))
  const misfits = synced.replace([request(2, [hunk('new')]), request(1, [hunk('late')])])
  expect(synced.hunks.map((h) => h.id)).toEqual(['new'])
  expect(misfits).toHaveLength(1)
})

it('maps carets only from versions it remembers', () => {
  const synced = new Synced('one two', 5)
  synced.commit(edit(7, 0, 0, 'a'))
  expect([synced.since(6), synced.since(5)?.length, synced.since(4), synced.since(7)]).toEqual([
    [],
    1,
    null,
    null,
  ])
})

it('finds the words that never arrived', () => {
  const first = ChangeSet.of({ from: 0, insert: 'Hello ' }, 3)
  const second = ChangeSet.of({ from: 9, insert: ' world' }, 9)
  expect(unsentWords([first, second])).toEqual(['Hello ', ' world'])
  expect(unsentWords([])).toEqual([])
})
