import { expect, it } from 'vitest'
import { isRepeated, type Press } from './doubleClick.ts'

const press = (at: number, more: Partial<Press> = {}): Press => ({
  at,
  x: 100,
  y: 100,
  detail: 1,
  ...more,
})

it.each([
  ['the second click of two', press(900, { detail: 2 }), press(500), true],
  ['a third one', press(900, { detail: 3 }), press(500, { detail: 2 }), true],
  ['a tap right after another', press(700), press(500), true],
  ['one that is not so soon', press(801), press(500), false],
  ['one elsewhere', press(600, { x: 160 }), press(500), false],
  ['the first', press(600), null, false],
  ['Enter after a click', press(600, { detail: 0 }), press(500), false],
  ['Enter, quickly again', press(560, { detail: 0 }), press(500, { detail: 0 }), false],
  ['a click after Enter', press(600), press(500, { detail: 0, x: 100 }), false],
])('sees whether a press is half of a double click: %s', (_, now, before, expected) => {
  expect(isRepeated(now, before)).toBe(expected)
})
