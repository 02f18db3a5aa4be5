import { expect, test, vi } from 'vitest'

vi.stubGlobal('sessionStorage', { getItem: () => null })
vi.mock('../../session/store.ts', () => ({ useSession: () => undefined }))
const { maySee } = await import('./models.ts')

test('a document says to which models it may be shown', () => {
  const local = ['harper', 'openai:qwen3']
  const models = ['harper', 'openai:qwen3', 'anthropic:claude']
  const seen = (access: Parameters<typeof maySee>[1]) =>
    models.filter((name) => maySee(name, access, local))
  expect(seen(undefined)).toEqual(models)
  expect(seen({ allow: 'any' })).toEqual(models)
  expect(seen({ allow: 'local' })).toEqual(local)
  expect(seen({ allow: 'named', names: ['anthropic:claude'] })).toEqual(['anthropic:claude'])
  expect(seen({ allow: 'named' })).toEqual([])
})
