import { expect, it, vi } from 'vitest'

const asked: unknown[] = []
const pages = [
  { documents: [{ id: 'doc_3' }, { id: 'doc_2' }], next: 'after 2' },
  { documents: [{ id: 'doc_2' }, { id: 'doc_1' }] },
]
vi.mock('./store.ts', () => ({
  wire: {
    call: (_: string, payload: unknown) => {
      asked.push(payload)
      return Promise.resolve(pages[asked.length - 1])
    },
  },
}))
const { listDocuments } = await import('./documentList.ts')

it('reads the list page by page, and has each document once', async () => {
  expect((await listDocuments()).map(({ id }) => id)).toEqual(['doc_3', 'doc_2', 'doc_1'])
  expect(asked).toEqual([{ limit: 1_000 }, { limit: 1_000, before: 'after 2' }])
})
