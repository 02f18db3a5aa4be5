import { expect, it } from 'vitest'
import { tabTitle } from './tabTitle.ts'

it('says how many changes wait, if some do', () => {
  expect(tabTitle('The Keeper', 16)).toBe('(16) The Keeper · Copydesk')
  expect(tabTitle('The Keeper', 0)).toBe('The Keeper · Copydesk')
  expect(tabTitle('', 3)).toBe('(3) Copydesk')
})
