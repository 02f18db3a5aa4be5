import { expect, it } from 'vitest'
import { assignLooks, colourOf, looksOf } from './looks.ts'

const person = (id: string, name = id) => ({ id, name })
const PEOPLE = ['usr_ana', 'usr_bo', 'usr_cy', 'usr_dee', 'usr_eli', 'usr_fay'].map((id) =>
  person(id),
)

it('gives one person one look, in whatever order people come', () => {
  const looks = assignLooks(PEOPLE, new Map())
  expect(assignLooks(PEOPLE.toReversed(), new Map())).toEqual(looks)
  expect(new Set(looks.values()).size).toBe(PEOPLE.length)
})

it('keeps a look while others come and go', () => {
  for (const first of PEOPLE) {
    const alone = assignLooks([first], new Map())
    const together = assignLooks(PEOPLE, alone)
    expect(together.get(`${first.id} ${first.name}`)).toBe([...alone.values()][0])
  }
})

it('tells four people apart by their colours, and two of one account too', () => {
  const four = [person('u', 'Ana'), person('u', 'Bo'), person('v'), person('w')]
  const colours = [...assignLooks(four, new Map()).values()].map(colourOf)
  expect(new Set(colours).size).toBe(4)
})

it('remembers them on this device, and is not upset by what it did not write', () => {
  const kept = new Map<string, string>()
  const storage = {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
  } as Storage
  const looks = looksOf([person('usr_bo')], storage)
  const bo = looks.get('usr_bo usr_bo')
  expect(looksOf(PEOPLE, storage).get('usr_bo usr_bo')).toBe(bo)
  kept.set('copydesk:looks', '{"a": [1]}')
  expect(looksOf([person('usr_bo')], storage).get('usr_bo usr_bo')).toBe(bo)
})
