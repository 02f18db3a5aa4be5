import { expect, it, vi } from 'vitest'
import type { DocumentRoleLine, LoginLine, TokenLine } from '../wire/generated.ts'

vi.mock('../session/store.ts', () => ({ wire: {} }))
vi.stubGlobal('window', { addEventListener: () => undefined })
const { granteeOf, granteeWords, isLocal, lastHere, linkOf, until, whoHasAccess } =
  await import('./share.ts')

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
    line('guest', { role: 'guest' }),
  ]
  expect(whoHasAccess(lines, 'doc_1').map(({ name }) => name)).toEqual(['all', 'here'])
  expect(whoHasAccess(lines, null).map(({ name }) => name)).toEqual([
    'all',
    'here',
    'there',
    'guest',
  ])
})

it('says when a link ends, and the hour where that is soon', () => {
  const now = Date.parse('2026-11-20T12:00:00Z')
  expect(until(null, now)).toBe('never expires')
  expect(until('2026-12-20T12:00:00Z', now)).toContain('2026')
  expect(until('2026-11-21T12:00:00Z', now)).toMatch(/\d\d:\d\d/)
})

it('knows whom an owner means by a mail address, a name or a group', () => {
  const login = (id: string, name: string, email: string | null): LoginLine => ({
    ...{ id, name, email, groups: [], issuer: '', subject: '', createdAt: '', signedInAt: '' },
  })
  const logins = [
    login('usr_ana', 'Ana', 'ana@press.example'),
    login('usr_bo', 'Bo', null),
    login('usr_cy', 'Cy', null),
    login('usr_cy2', 'Cy', null),
  ]
  expect(granteeOf('person', ' Gus@press.example ', logins)).toEqual({ email: 'Gus@press.example' })
  expect(granteeOf('person', 'Bo', logins)).toEqual({ login: 'usr_bo' })
  // Two of one name, one who has an address, no one.
  expect(['Cy', 'Ana', 'Dee', ' '].map((name) => granteeOf('person', name, logins))).toEqual([
    null,
    null,
    null,
    null,
  ])
  expect(granteeOf('group', '/staff/press', logins)).toEqual({ group: '/staff/press' })
})

it('says of an address whether its person has signed in', () => {
  const given: DocumentRoleLine = {
    ...{ login: null, email: 'gus@press.example', group: null, name: null, role: 'viewer' },
    ...{ givenAt: '', givenBy: null },
  }
  expect(granteeWords(given)).toEqual({
    title: 'gus@press.example',
    facts: 'Has not signed in yet',
  })
  expect(granteeWords({ ...given, name: 'Gus' })).toEqual({
    title: 'Gus',
    facts: 'gus@press.example',
  })
  expect(granteeWords({ ...given, email: null, group: 'press' }).facts).toBe('Group')
})

it('says of who is connected that they are here now', () => {
  const now = Date.parse('2026-11-27T10:11:00Z')
  const here = new Set(['usr_Bo'])
  const before = { lastUsedAt: '2026-11-27T10:00:00Z' }
  expect(lastHere(line('Bo', before), here, now)).toBe('here now')
  expect(lastHere(line('Ana', { ...before, current: true }), here, now)).toBe('here now')
  expect(lastHere(line('Cy', before), here, now)).toBe('last seen 11 min ago')
  expect(lastHere(line('Di', {}), here, now)).toBe('not opened yet')
})
