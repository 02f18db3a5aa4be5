import { expect, it } from 'vitest'
import { moment } from '../../../history/wording.ts'
import type { ProvenanceSpan } from '../../../wire/generated.ts'
import { changedByWords } from './changedBy.ts'

const at = (minute: number) => new Date(2026, 10, 28, 23, minute).toISOString()
const now = Date.parse(at(30))
const person = (name: string) => ({ id: `usr_${name}`, name })
const span = (name: string, minute: number): ProvenanceSpan => ({
  from: 0,
  to: 1,
  kind: 'person',
  author: person(name),
  at: at(minute),
})

it('names who wrote there last, and when', () => {
  const spans = [span('Ana', 1), span('Bo', 12), span('Cy', 8)]
  expect(changedByWords(spans, at(5), person('Ana'), now)).toBe(
    `Bo changed this at ${moment(at(12), now)}.`,
  )
  expect(changedByWords(spans, at(5), person('Bo'), now)).toContain('You changed this')
  // One account, two names.
  const shared = { id: 'usr_Bo', name: 'Owner (as Ana)' }
  expect(changedByWords(spans, at(5), shared, now)).toContain('Bo changed this')
})

it('does not name who wrote there before the AI read it', () => {
  expect(changedByWords([span('Ana', 1)], at(5), undefined, now)).toBeNull()
  expect(changedByWords([], at(5), undefined, now)).toBeNull()
})
