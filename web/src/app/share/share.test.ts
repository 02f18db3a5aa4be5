import { expect, it, vi } from 'vitest'
import type { TokenLine } from '../../wire/generated.ts'

vi.mock('../../session/store.ts', () => ({ wire: {} }))
vi.stubGlobal('window', { addEventListener: () => undefined })
const { isLocal, linkOf, until, whoHasAccess } = await import('./share.ts')

const line = (name: string, more: Partial<TokenLine>): TokenLine => ({
  id: `tok_${name}`,
  user: `usr_${name}`,
  name,
  role: 'editor',
  documentId: null,
  status: 'active',
  createdAt: '',
  expiresAt: null,
  lastUsedAt: null,
  revokedAt: null,
  current: false,
  login: null,
  tied: false,
  ...more,
})

it('leads to the document it was made in, at the address this page was reached by', () => {
  const issued = { url: 'http://127.0.0.1:4680/#token=a%2Bb' }
  expect(linkOf(issued, 'https://desk.example', 'doc_1')).toBe(
    'https://desk.example/d/doc_1#token=a%2Bb',
  )
  expect(linkOf(issued, 'https://desk.example', null)).toBe('https://desk.example/#token=a%2Bb')
})

it('knows addresses that lead nowhere from another computer', () => {
  expect(['127.0.0.1', 'localhost', '[::1]', 'desk.example', '10.0.0.7'].filter(isLocal)).toEqual([
    '127.0.0.1',
    'localhost',
    '[::1]',
  ])
})

it('lists who can come in now, and to a document who can open it', () => {
  const lines = [
    line('all', {}),
    line('here', { documentId: 'doc_1' }),
    line('there', { documentId: 'doc_2' }),
    line('gone', { status: 'revoked' }),
    line('late', { status: 'expired' }),
  ]
  expect(whoHasAccess(lines, 'doc_1').map(({ name }) => name)).toEqual(['all', 'here'])
  expect(whoHasAccess(lines, null).map(({ name }) => name)).toEqual(['all', 'here', 'there'])
})

it('says when a link ends, and the hour where that is soon', () => {
  const now = Date.parse('2026-11-20T12:00:00Z')
  expect(until(null, now)).toBe('no end')
  expect(until('2026-12-20T12:00:00Z', now)).toContain('2026')
  expect(until('2026-11-21T12:00:00Z', now)).toMatch(/\d\d:\d\d/)
})
