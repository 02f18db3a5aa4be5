import { expect, it, vi } from 'vitest'

vi.stubGlobal('navigator', { platform: 'Linux', userAgent: '' })
const { nothingFrozen } = await import('./wording.ts')

it('names the key for freezing only to who may freeze', () => {
  expect(nothingFrozen(true)).toMatch(/press .* L:/)
  expect(nothingFrozen(false)).not.toContain('press')
})
