import { afterEach, expect, it, vi } from 'vitest'

vi.mock('../session/store.ts', () => ({
  credentials: () => ({ Authorization: 'Bearer secret' }),
}))

const { FORMATS, download, fileName } = await import('./download.ts')

afterEach(() => vi.unstubAllGlobals())

function answering(answer: Response) {
  const fetched = vi.fn((_address: string, _options: RequestInit) => Promise.resolve(answer))
  const link = { href: '', download: '', click: vi.fn() }
  vi.stubGlobal('fetch', fetched)
  vi.stubGlobal('window', { document: { createElement: () => link } })
  return { fetched, link }
}

it('reads the name of a file as it was written', () => {
  expect(
    fileName(
      'attachment; filename="The Keeper_s Ledger.md"; filename*=UTF-8\'\'The%20Keeper%E2%80%99s%20Ledger.md',
    ),
  ).toBe('The Keeper’s Ledger.md')
  expect(fileName("attachment; filename*=UTF-8''..%2F..%2Fx.md")).toBe('..-..-x.md')
  expect(fileName("attachment; filename*=UTF-8''%E2%80")).toBeUndefined()
  expect(fileName(null)).toBeUndefined()
})

it('sends the token in a header and saves what comes', async () => {
  const headers = { 'Content-Disposition': "attachment; filename*=UTF-8''Ledger.docx" }
  const { fetched, link } = answering(new Response('file', { headers }))
  await download('doc 1', 'docx')
  const [address, options] = fetched.mock.calls[0]!
  expect(address).toBe('/api/v1/documents/doc%201/export?format=docx')
  expect(options.headers).toEqual({ Authorization: 'Bearer secret' })
  expect(link.download).toBe('Ledger.docx')
  expect(link.click).toHaveBeenCalledOnce()
})

it('says why there is no file', async () => {
  const { link } = answering(
    new Response(JSON.stringify({ detail: 'you may not do that' }), { status: 403 }),
  )
  await expect(download('doc', 'md')).rejects.toThrow('Not exported: you may not do that.')
  answering(new Response('<html>', { status: 502 }))
  await expect(download('doc', 'md')).rejects.toThrow('could not be saved')
  expect(link.click).not.toHaveBeenCalled()
})

it('offers each format once', () => {
  expect(FORMATS.map(({ format }) => format).toSorted()).toEqual([
    'criticmarkup',
    'docx',
    'html',
    'json',
    'md',
  ])
})
