import { expect, it } from 'vitest'
import type { Hunk } from '../../wire/generated.ts'
import { orphaned } from './orphans.ts'
import { draftOf, type Drafts, NO_DRAFTS } from './drafts.ts'

const decided = (id: string): Hunk => ({
  id,
  request_id: 'r',
  status: 'rejected',
  parts: [],
  decided: { by: { id: 'b', name: 'Bo' }, at: '2026-11-20T10:00:00Z' },
})
const drafts = { ...NO_DRAFTS, written: { one: 'my words', two: 'others' } }
const nothing = new Set<string>()

it('offers words back whose change somebody else decided, and says who', () => {
  const after = orphaned(drafts, { open: new Set(['two']), sending: nothing, find: decided })
  expect(after.written).toEqual({ two: 'others' })
  expect(after.orphans).toEqual([
    {
      id: 'one',
      text: 'my words',
      why: expect.stringMatching(/^Rejected by Bo, .* while you were editing it\.$/) as string,
    },
  ])
})

it('leaves a draft alone while its own decision is on its way, or its change waits', () => {
  expect(
    orphaned(drafts, { open: new Set(['two']), sending: new Set(['one']), find: decided }),
  ).toBe(drafts)
  expect(orphaned(drafts, { open: new Set(['one', 'two']), sending: nothing, find: decided })).toBe(
    drafts,
  )
})

it('keeps the words also when nothing is known of their change', () => {
  expect(
    orphaned(drafts, { open: nothing, sending: nothing, find: () => undefined }).orphans.map(
      ({ why }) => why,
    ),
  ).toEqual(['Decided while you were editing it.', 'Decided while you were editing it.'])
})

it('says what was being written, and for what', () => {
  const written = {
    [draftOf('r', 'reason')]: 'too soon',
    [draftOf('r', 'answer')]: 'look there',
    [draftOf('r', 'input', 'file path')]: 'b.txt',
    [draftOf('all', 'note')]: 'thanks',
    [draftOf('r', 'note')]: ' ',
  }
  const after = orphaned(
    { ...NO_DRAFTS, written },
    {
      open: new Set(['all']),
      sending: nothing,
      find: () => 'Write a.txt: Rejected by Bo',
    },
  )
  expect(after.written).toEqual({ 'all note': 'thanks' })
  expect(after.orphans.map(({ text, why }) => [text, why])).toEqual([
    ['too soon', 'Write a.txt: Rejected by Bo, while you were writing why not.'],
    ['look there', 'Write a.txt: Rejected by Bo, while you were answering.'],
    ['b.txt', 'Write a.txt: Rejected by Bo, while you were editing “file path”.'],
  ])
})

it('does not say that somebody else was faster where one decided without the words oneself', () => {
  const why = (find: () => Hunk | string | undefined) =>
    orphaned(drafts, { open: new Set(['two']), sending: nothing, find, isOwn: () => true })
      .orphans[0]?.why
  expect(why(() => decided('one'))).toBe('You rejected it. These words were not used.')
  expect(why(() => ({ ...decided('one'), status: 'accepted' }))).toBe(
    'You accepted it. These words were not used.',
  )
  expect(why(() => 'Write a.txt: Rejected')).toBe('You decided it. These words were not used.')
})

it('puts words back into their field once the change is open again', () => {
  const open = new Set(['one', 'two'])
  const after = orphaned(drafts, { open: new Set(['two']), sending: nothing, find: decided })
  expect(orphaned(after, { open, sending: nothing, find: decided })).toEqual(drafts)
})

it('does not put words back over newer ones, and loses none', () => {
  const older = { id: 'one', text: 'older', why: 'Rejected.' }
  const subjects = { open: new Set(['one', 'two']), sending: nothing, find: decided }
  const written: Drafts = { ...drafts, orphans: [older] }
  expect(orphaned(written, subjects)).toBe(written)
  const newer = { ...older, text: 'newer' }
  expect(orphaned({ written: {}, orphans: [older, newer] }, subjects)).toEqual({
    written: { one: 'newer' },
    orphans: [older],
  })
})

it('offers words about all suggestions of then, and not in the field about those of now', () => {
  const note = { ...NO_DRAFTS, written: { [draftOf('all', 'note')]: 'thanks' } }
  const over = orphaned(note, { open: nothing, sending: nothing, find: () => undefined })
  const again = { open: new Set(['all']), sending: nothing, find: () => undefined }
  expect(orphaned(over, again)).toBe(over)
})
