import { expect, test } from 'vitest'
import type { PersonPreview, TokenLine } from '../wire/generated.ts'
import {
  byteSize,
  deletionWords,
  dollars,
  monthName,
  peopleOf,
  readLimit,
  spentOf,
} from './wording.ts'

const token = (id: string, user: string, more: Partial<TokenLine>): TokenLine => ({
  id,
  user,
  name: user,
  role: 'editor',
  documentId: null,
  status: 'active',
  createdAt: '2026-11-20T12:00:00Z',
  expiresAt: null,
  lastUsedAt: null,
  revokedAt: null,
  current: false,
  login: null,
  tied: false,
  ...more,
})

test('people with access come first, each with all their tokens and their newest name', () => {
  const people = peopleOf([
    token('1', 'zoe', { status: 'revoked', name: 'Zoe' }),
    token('2', 'zoe', { name: 'Zoë' }),
    token('3', 'gone', { status: 'expired', name: 'Abel' }),
    token('4', 'me', { name: 'Olga', current: true }),
  ])
  expect(people.map(({ name }) => name)).toEqual(['Olga', 'Zoë', 'Abel'])
  expect(people[1]?.tokens.map(({ id }) => id)).toEqual(['2', '1'])
  expect(people.map(({ isActive }) => isActive)).toEqual([true, true, false])
  expect(people[0]?.isCurrent).toBe(true)
})

test('money and sizes are written as people do', () => {
  expect([0, 1.25, 1234.5, 0.000012].map(dollars)).toEqual([
    '$0.00',
    '$1.25',
    '$1,234.50',
    '$0.000012',
  ])
  expect([999, 1000, 12_345, 999_500_000].map(byteSize)).toEqual([
    '999 bytes',
    '1 KB',
    '12.3 KB',
    '1,000 MB',
  ])
  expect(spentOf(1, null)).toBe('$1.00')
  expect(spentOf(1, 20)).toBe('$1.00 of $20.00')
  expect(monthName('2026-11')).toBe('November 2026')
})

test('a limit is a number of dollars', () => {
  expect(['20', ' $2.50 ', '0', '1000000'].map(readLimit)).toEqual([20, 2.5, 0, 1_000_000])
  expect(['', '-1', '1e3', 'much', '1,5', '1000001', '.5'].map(readLimit)).toEqual(
    Array.from({ length: 7 }, () => undefined),
  )
})

test('a deletion says what goes, what ends, what is renamed and what stays', () => {
  const preview: PersonPreview = {
    id: 'usr_1',
    formerIds: [],
    name: 'Bo',
    email: null,
    state: 'stored',
    obstacle: null,
    unfinishedRuns: 0,
    waitingRequests: 0,
    deleted: { logins: 0, conversations: 1, messages: 1, runs: 1, answers: 0, limits: 0 },
    renamed: { tokens: 1, requests: 2, decisions: 1, rules: 0, threads: 1 },
    kept: { updates: 12, auditLines: 3, spending: 1 },
    privateDocuments: [],
  }
  const words = deletionWords(preview)
  expect(words.map(({ head }) => head)).toEqual([
    'Deleted',
    '“Deleted person” from now on',
    'Stay as they are',
  ])
  expect(words[0]?.text).toContain('1 entry of')
  expect(words[1]?.text).toBe(
    '12 steps in the history of documents, 1 decision, 2 requests, 1 thread of comments',
  )
  const busy = deletionWords({ ...preview, unfinishedRuns: 1, waitingRequests: 2 })
  expect(busy[1]?.text).toBe('1 question to the AI; 2 changes that nobody has decided')
})
