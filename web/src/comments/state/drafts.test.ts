import { expect, it } from 'vitest'
import {
  type Draft,
  draftsOfNewThreads,
  findQuote,
  keyOf,
  type Place,
  readDrafts,
  withDraft,
} from './drafts.ts'

const passage = (from: number, quote: string): Place => ({
  on: 'passage',
  range: { from, to: from + quote.length },
  quote,
})
const draft = (place: Place, text = 'Half a tho'): Draft => ({ place, text, picked: [], by: 'ana' })

it('keeps one draft for each place, and none without words', () => {
  const reply: Place = { on: 'thread', threadId: 'thr_1' }
  const places = [reply, passage(4, 'lamp'), { on: 'document' }] as const
  const all = places.reduce((drafts, place) => withDraft(drafts, draft(place)), {})
  expect(Object.keys(all)).toHaveLength(3)
  expect(withDraft(all, draft(reply, 'More'))[keyOf(reply)]?.text).toBe('More')
  expect(withDraft(all, draft(reply, ' \n'))[keyOf(reply)]).toBeUndefined()
  // Replies are shown in their threads.
  expect(draftsOfNewThreads(all).map(({ place }) => place.on)).toEqual(['document', 'passage'])
})

it('knows a passage by its words wherever they are now', () => {
  expect(keyOf(passage(4, 'lamp'))).toBe(keyOf(passage(90, 'lamp')))
})

it('finds the words of a draft where they were, else at the nearest place', () => {
  const text = 'lamp, lamp and lamp'
  expect(findQuote(text, 'lamp', 6)).toEqual({ from: 6, to: 10 })
  expect(findQuote(text, 'lamp', 14)).toEqual({ from: 15, to: 19 })
  expect(findQuote(text, 'light', 6)).toBeNull()
  expect(findQuote(text, '', 6)).toBeNull()
})

it('reads back what the same person wrote, and nothing that makes no sense', () => {
  const mine = withDraft({}, draft({ on: 'document' }))
  const kept = JSON.stringify(withDraft(mine, { ...draft(passage(4, 'lamp')), by: 'bo' }))
  expect(readDrafts(kept, 'ana')).toEqual(mine)
  for (const broken of [null, 'null', '{', '[1]', '{"a":null}', '7'])
    expect(readDrafts(broken, 'ana')).toEqual({})
})
