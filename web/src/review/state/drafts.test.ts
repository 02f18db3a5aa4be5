import { expect, it } from 'vitest'
import type { Hunk } from '../../wire/generated.ts'
import {
  draftOf,
  forgetDrafts,
  halfWritten,
  NO_DRAFTS,
  orphaned,
  useInboxDrafts,
  useDrafts,
  writeDraft,
} from './drafts.ts'

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
  const after = orphaned(drafts, new Set(['two']), nothing, (id) => decided(id))
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
  expect(orphaned(drafts, new Set(['two']), new Set(['one']), decided)).toBe(drafts)
  expect(orphaned(drafts, new Set(['one', 'two']), nothing, decided)).toBe(drafts)
})

it('keeps the words also when nothing is known of their change', () => {
  expect(orphaned(drafts, nothing, nothing, () => undefined).orphans.map(({ why }) => why)).toEqual(
    ['Decided while you were editing it.', 'Decided while you were editing it.'],
  )
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
    new Set(['all']),
    nothing,
    () => 'Write a.txt: Rejected by Bo',
  )
  expect(after.written).toEqual({ 'all note': 'thanks' })
  expect(after.orphans.map(({ text, why }) => [text, why])).toEqual([
    ['too soon', 'Write a.txt: Rejected by Bo, while you were writing why not.'],
    ['look there', 'Write a.txt: Rejected by Bo, while you were answering.'],
    ['b.txt', 'Write a.txt: Rejected by Bo, while you were editing “file path”.'],
  ])
})

it('keeps what is written at the desk apart from what is written in a document', () => {
  writeDraft('h', 'in the text')
  writeDraft(draftOf('r', 'answer'), 'at the desk', useInboxDrafts)
  useDrafts.setState(NO_DRAFTS)
  expect(halfWritten()).toEqual(['at the desk'])
  writeDraft(draftOf('r', 'answer'), null, useInboxDrafts)
  expect(halfWritten()).toEqual([])
})

it('gathers all words for somebody who loses sight of the page', () => {
  useDrafts.setState({ written: { h: 'mine' }, orphans: [{ id: 'x', text: 'older', why: '' }] })
  useInboxDrafts.setState({ written: { 'r reason': 'no', 'r note': ' ' }, orphans: [] })
  expect(halfWritten()).toEqual(['older', 'mine', 'no'])
  forgetDrafts()
  expect(halfWritten()).toEqual([])
})
