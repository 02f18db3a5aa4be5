import { beforeEach, expect, test, vi } from 'vitest'
import type { Hunk } from '../../wire/generated.ts'

vi.mock('../../session/store.ts', () => ({
  useSession: { getState: () => ({ me: { user: { id: 'me' } } }) },
}))
const stored = new Map<string, string>()
vi.stubGlobal('localStorage', {
  getItem: (key: string) => stored.get(key) ?? null,
  setItem: (key: string, value: string) => stored.set(key, value),
  removeItem: (key: string) => stored.delete(key),
})

const { usePanel } = await import('./panel.ts')
const { forgetAccepts, hasRemarks, noteAccept, setRemarks } = await import('./remarks.ts')

const hunk = (id: string): Hunk => ({ id, request_id: 'r', status: 'pending', parts: [] })
const marked: Hunk = { ...hunk('number'), marks: [{ kind: 'number', was: '1', now: '2' }] }
const acceptTen = () => {
  for (let at = 0; at < 10; at++)
    noteAccept({ hunk: at === 3 ? marked : hunk(`${at}`), at: at * 500, pieces: [] })
}
const remarked = () => usePanel.getState().remark?.map(({ hunk: { id } }) => id)

beforeEach(() => {
  stored.clear()
  forgetAccepts()
  usePanel.setState({ remark: null })
})

test('ten fast accepts with a change of meaning among them are remarked on', () => {
  noteAccept({ hunk: marked, at: 0, pieces: [] })
  forgetAccepts()
  acceptTen()
  expect(remarked()).toEqual(['number'])
})

test('a person who wants no remarks gets none, until they want them again', () => {
  acceptTen()
  setRemarks(false)
  expect(remarked()).toBeUndefined()
  acceptTen()
  expect(remarked()).toBeUndefined()
  setRemarks(true)
  expect(hasRemarks()).toBe(true)
  acceptTen()
  expect(remarked()).toEqual(['number'])
})
