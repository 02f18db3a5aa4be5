import { expect, it, vi } from 'vitest'

vi.stubGlobal('window', { addEventListener: () => undefined })
const { linkedThread, linkTo } = await import('./link.ts')

it('names the thread in the part of the address that is not sent', () => {
  const link = new URL(linkTo('https://desk.example', 'doc_1', 'thr_1'))
  expect([link.pathname, linkedThread(link.hash)]).toEqual(['/d/doc_1', 'thr_1'])
  expect(linkedThread('#token=secret')).toBeNull()
})
