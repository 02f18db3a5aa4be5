import { expect, test } from 'vitest'
import type { ProvenanceSpan, RuleCredit } from '../wire/generated.ts'
import { credit, authorShares, share } from './wording.ts'

const at = new Date(2026, 10, 20, 14, 3).toISOString()
const now = new Date(2026, 10, 20, 18, 0).getTime()
const ana = { id: 'usr_1', name: 'Ana' }
const bo = { id: 'usr_2', name: 'Bo' }

/** As they look elsewhere. */
const lookOf = ({ id }: { id: string }) => (id === 'usr_1' ? 5 : 2)

const span = (from: number, to: number, more: Partial<ProvenanceSpan> = {}): ProvenanceSpan => ({
  from,
  to,
  kind: 'person',
  author: ana,
  at,
  ...more,
})
const clock = new Date(at).toLocaleTimeString([], { hour: 'numeric', minute: '2-digit' })

test('a span says who wrote it, for whom, and who let it in', () => {
  expect(credit(span(0, 1), now)).toBe(`Ana · ${clock}`)
  const ai = span(0, 1, { kind: 'ai', approver: bo, request: 'req_0123abcd' })
  expect(credit(ai, now)).toBe(`AI, asked by Ana · accepted by Bo · ${clock} · request …abcd`)
  const rule: RuleCredit = {
    id: 'rul_1',
    by: bo,
    tool: 'update_full_document',
    remember: { scope: 'document', max_units: 20 },
  }
  expect(credit({ ...ai, rule }, now)).toContain(
    '· accepted by Bo’s rule (Rewrite, at most 20 characters changed) ·',
  )
  expect(credit({ ...ai, edited: true }, now)).toContain('edited and accepted by Bo')
  expect(credit(span(0, 1, { kind: 'ai' }), now)).toBe(
    `AI, asked by Ana · applied without asking · ${clock}`,
  )
  expect(credit(span(0, 1, { kind: 'beginning' }), now)).toContain('Original text by Ana')
})

test('what people edited before they accepted it is counted apart from the AI’s own words', () => {
  const ai = { kind: 'ai', approver: bo } as const
  const shares = authorShares(
    [span(0, 5, ai), span(5, 8, { ...ai, edited: true }), span(8, 9, ai)],
    lookOf,
  )
  expect(shares.map(({ name, look, units }) => [name, look, units])).toEqual([
    ['AI, accepted', 'ai', 6],
    ['AI, edited by people', 'ai', 3],
  ])
})

test('another day has its date', () => {
  expect(credit(span(0, 1), now + 86_400_000)).toMatch(/20.*,/)
})

test('parts are added up, the largest first, and people look different', () => {
  const parts = authorShares(
    [span(0, 3), span(3, 10, { author: bo }), span(10, 30, { kind: 'ai' }), span(30, 36)],
    lookOf,
  )
  expect(parts.map(({ name, units }) => [name, units])).toEqual([
    ['AI, accepted', 20],
    ['Ana', 9],
    ['Bo', 7],
  ])
  expect(parts.map(({ look }) => look)).toEqual(['ai', '5', '2'])
})

test('shares are percent, and nothing rounds to none', () => {
  expect(share(1, 2)).toBe('50 %')
  expect(share(1, 1000)).toBe('< 1 %')
  expect(share(0, 0)).toBe('< 1 %')
})
