import { expect, it } from 'vitest'
import type { Hunk } from '../wire/types.ts'
import { NO_DRAFTS, orphaned } from './drafts.ts'

const decided = (id: string): Hunk => ({ id, request_id: 'r', status: 'rejected', parts: [], decided: { by: { id: 'b', name: 'Bo' }, at: '2026-11-20T10:00:00Z' } })
const drafts = { ...NO_DRAFTS, written: { one: 'my words', two: 'others' } }
const nothing = new Set<string>()

it('offers words back whose change somebody else decided, and says who', () => {
  const after = orphaned(drafts, new Set(['two']), nothing, (id) => decided(id))
  expect(after.written).toEqual({ two: 'others' })
  expect(after.orphans).toEqual([{ id: 'one', text: 'my words', why: expect.stringMatching(/^Rejected by Bo, .* while you were editing it\.$/) as string }])
})

it('leaves a draft alone while its own decision is on its way, or its change waits', () => {
  expect(orphaned(drafts, new Set(['two']), new Set(['one']), decided)).toBe(drafts)
  expect(orphaned(drafts, new Set(['one', 'two']), nothing, decided)).toBe(drafts)
})

it('keeps the words also when nothing is known of their change', () => {
  expect(orphaned(drafts, nothing, nothing, () => undefined).orphans.map(({ why }) => why)).toEqual(['Decided while you were editing it.', 'Decided while you were editing it.'])
})
