import { expect, it, vi } from 'vitest'

vi.mock('../session/store.ts', () => ({ useSession: () => undefined }))
vi.stubGlobal('sessionStorage', { getItem: () => null })

const { MODES } = await import('./modes.ts')

it('has words for every permission mode of the server, told apart by name and hint', () => {
  expect(MODES.map(({ mode }) => mode).toSorted()).toEqual([
    'bypassPermissions',
    'mcpProxy',
    'sdk',
    'toolApproval',
  ])
  expect(new Set(MODES.map(({ name }) => name)).size).toBe(MODES.length)
  expect(new Set(MODES.map(({ what }) => what)).size).toBe(MODES.length)
})
