import { expect, it, vi } from 'vitest'
import type { DocumentLine } from '../wire/generated.ts'

vi.mock('../session/store.ts', () => ({
  hasCapability: () => true,
  wire: { call: () => Promise.resolve({ documents: [] }) },
}))
vi.stubGlobal('document', { hidden: false })
const {
  deleteDocument,
  focusWhenOpen,
  isUntouchedSample,
  recoverDocument,
  SAMPLE_TITLE,
  search,
  takesFocus,
} = await import('./library.ts')
const { useToasts } = await import('../ui/toasts.ts')

const line = (title: string, path?: string) => ({ title, ...(path && { path }) }) as DocumentLine

it('finds documents by words of their titles and files', () => {
  const all = [line('The Keeper’s Ledger'), line('Notes', 'drafts/ledger.md'), line('Axe')]
  const found = (sought: string) => search(all, sought).map(({ title }) => title)
  expect(found('ledger')).toEqual(['The Keeper’s Ledger', 'Notes'])
  expect(found('LEDGER keeper')).toEqual(['The Keeper’s Ledger'])
  expect(found(' ')).toHaveLength(3)
  expect(found('lamp')).toEqual([])
})

it('puts the caret into a new document, once', () => {
  focusWhenOpen('doc_1')
  expect([takesFocus('doc_2'), takesFocus('doc_1'), takesFocus('doc_1')]).toEqual([
    false,
    true,
    false,
  ])
})

it('says of a document that was brought back that it is there, and no more that it is deleted', async () => {
  const toasts = () => useToasts.getState().toasts.map(({ text }) => text)
  const [one, two] = [
    { ...line('Notes'), id: 'doc_1' },
    { ...line('Axe'), id: 'doc_2' },
  ]
  await deleteDocument(one)
  await deleteDocument(two)
  await recoverDocument(one)
  expect(toasts()).toEqual(['“Axe” is deleted.', '“Notes” is back in the list.'])
})

it('knows the sample until it is changed', () => {
  expect(isUntouchedSample({ ...line(SAMPLE_TITLE), version: 0 })).toBe(true)
  expect(isUntouchedSample({ ...line(SAMPLE_TITLE), version: 1 })).toBe(false)
  expect(isUntouchedSample({ ...line('Notes'), version: 0 })).toBe(false)
})
