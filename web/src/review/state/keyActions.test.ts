import { expect, it } from 'vitest'
import { actionOf } from './keyActions.ts'

const key = (name: string, more: object = {}) => ({
  key: name,
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  shiftKey: false,
  ...more,
})

it('reads letters and chords alike', () => {
  expect(
    ['j', 'k', 'a', 'R', 'e', 's', 'u', '?', 'Escape'].map((name) => actionOf(key(name), true)),
  ).toEqual(['next', 'previous', 'accept', 'reject', 'edit', 'split', 'undo', 'shortcuts', 'text'])
  expect(
    [key('n'), key('d'), key('F8', { ctrlKey: true })].map((press) => actionOf(press, false)),
  ).toEqual(['unread', 'defer', 'unread'])
  expect([key('F8'), key('F8', { shiftKey: true })].map((press) => actionOf(press, false))).toEqual(
    ['next', 'previous'],
  )
  const chords = [{ ctrlKey: true }, { metaKey: true, shiftKey: true }, { altKey: true }]
  expect(chords.map((more) => actionOf(key('Enter', more), true))).toEqual([
    'accept',
    'reject',
    'edit',
  ])
})

it('lets who only reviews decide and not type', () => {
  const reviewing = [
    key('a'),
    key('r'),
    key('e'),
    key('Enter', { altKey: true }),
    key('Enter', { ctrlKey: true }),
  ]
  expect(reviewing.map((press) => actionOf(press, true, false))).toEqual([
    'accept',
    'reject',
    undefined,
    undefined,
    'accept',
  ])
})

it('decides nothing for who may not, and leaves the rest to the browser', () => {
  expect(['a', 'r', 'e', 's', 'u', 'Enter', 'x'].map((name) => actionOf(key(name), false))).toEqual(
    [undefined, undefined, undefined, undefined, undefined, undefined, undefined],
  )
  // A writer's own: copy, delete a word, reload.
  expect(
    [
      key('c', { ctrlKey: true }),
      key('Backspace', { ctrlKey: true }),
      key('r', { metaKey: true }),
      key('Enter'),
    ].map((press) => actionOf(press, true)),
  ).toEqual([undefined, undefined, undefined, undefined])
})
