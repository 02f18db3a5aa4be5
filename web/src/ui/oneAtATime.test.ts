import { expect, test, vi } from 'vitest'
import { oneAtATime } from './oneAtATime.ts'

test('a second press before the answer does nothing, one after it does', async () => {
  const answers: (() => void)[] = []
  const action = vi.fn(() => new Promise<void>((answer) => answers.push(answer)))
  const press = oneAtATime(action)
  const first = press()
  await press()
  expect(action).toHaveBeenCalledTimes(1)
  answers[0]?.()
  await first
  void press()
  expect(action).toHaveBeenCalledTimes(2)
})

test('a press after one that failed is done', async () => {
  const action = vi.fn(() => Promise.reject(new Error('no answer')))
  const press = oneAtATime(action)
  await expect(press()).rejects.toThrow('no answer')
  await expect(press()).rejects.toThrow('no answer')
})
