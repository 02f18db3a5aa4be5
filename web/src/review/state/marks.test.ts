import { expect, it } from 'vitest'
import type { Hunk } from '../../wire/generated.ts'
import {
  arranged,
  comparing,
  type Mark,
  type MarkKind,
  MARK_KINDS,
  shownKind,
  spokenMark,
} from './marks.ts'
import { becauseOf, markWords, severalOf, showChoices, signOf } from './markWords.ts'
import { type Accept, hurriedIn, remarkWords, withAccept } from './streak.ts'
import { describeWords, following, neighbour } from './changes.ts'

const mark = (kind: MarkKind, was = 'a', now = 'b'): Mark => ({ kind, was, now })
const hunk = (id: string, ...marks: Mark[]): Hunk => ({
  id,
  request_id: 'req',
  status: 'pending',
  parts: [{ from: id.charCodeAt(0), to: id.charCodeAt(0) + 1, base: 'a', insert: 'b' }],
  ...(marks.length > 0 && { marks }),
})
const ids = (hunks: readonly Hunk[]) => hunks.map(({ id }) => id).join('')

it('says what a mark is about, to who reads and to who listens', () => {
  const marks = [
    mark('number', '12', '21'),
    mark('name', 'Smith', ''),
    mark('date', '', '12 March'),
    mark('negation', 'not', ''),
  ]
  expect(marks.map(markWords)).toEqual([
    'number: 12 → 21',
    'name gone: Smith',
    'new date: 12 March',
    '“not” gone: not',
  ])
  expect(marks.map(spokenMark)).toEqual([
    'Changes a number: 12 to 21.',
    'Removes a name: Smith.',
    'Adds a date: 12 March.',
    'Removes a “not”: not.',
  ])
  expect(markWords(mark('quote', 'x'.repeat(80), 'y'))).toBe(`quotation: ${'x'.repeat(60)}… → y`)
})

it('says it after the words of the change', () => {
  expect(describeWords(hunk('a', mark('number', '12', '21')))).toBe(
    'Remove: a. Insert: b. Changes a number: 12 to 21.',
  )
  expect(describeWords(hunk('a'))).toBe('Remove: a. Insert: b.')
})

it('has a word for every kind, and signs a change with each of its kinds once', () => {
  expect(MARK_KINDS).toHaveLength(12)
  expect(MARK_KINDS.map(severalOf).every((words) => words.length > 2)).toBe(true)
  expect(signOf(hunk('a', mark('name'), mark('number'), mark('name')))).toBe('number, name')
  expect(signOf(hunk('a'))).toBe('')
})

const LIST = [
  hunk('a'),
  hunk('b', mark('link')),
  hunk('c', mark('number')),
  hunk('d'),
  hunk('e', mark('negation'), mark('link')),
]

const LISTED = { later: new Set<string>(), personOf: () => '' }

it('shows the changes of a kind, in place or the heaviest first', () => {
  expect(ids(arranged(LIST, { ...LISTED, show: 'all', order: 'place' }))).toBe('abcde')
  expect(ids(arranged(LIST, { ...LISTED, show: 'all', order: 'weight' }))).toBe('ecbad')
  expect(ids(arranged(LIST, { ...LISTED, show: 'marked', order: 'place' }))).toBe('bce')
  expect(ids(arranged(LIST, { ...LISTED, show: 'link', order: 'weight' }))).toBe('eb')
})

it('lists by kind and by person, and what is for later comes last in every order', () => {
  const kinds = { a: 'moved', b: 'rewrite', d: 'correction' } as const
  const changes = LIST.map((it) => ({ ...it, request_id: it.id, kind: kinds[it.id as 'a'] }))
  const list = { ...LISTED, show: 'all' } as const
  expect(ids(arranged(changes, { ...list, order: 'kind' }))).toBe('dbcea')
  const personOf = (request: string) => (request < 'c' ? 'Cy' : 'Ana')
  const byPerson = { ...list, order: 'person', personOf } as const
  expect(ids(arranged(changes, byPerson))).toBe('cdeab')
  const later = new Set(['a', 'c'])
  expect(ids(arranged(changes, { ...list, order: 'place', later }))).toBe('bdeac')
  expect(ids(arranged(changes, { ...byPerson, later }))).toBe('debca')
  const inPlace = { ...list, order: 'place', later } as const
  const [a, b, , , e] = changes
  const left = changes.filter((it) => it !== e)
  expect(following(arranged(left, inPlace), e!, comparing(inPlace))?.id).toBe('a')
  expect(neighbour(arranged(changes, inPlace), 'c', 1)?.id).toBe(b!.id)
  expect(neighbour(arranged(changes, inPlace), a!.id, -1)?.id).toBe('e')
})

it('shows all changes once none of a kind is left', () => {
  const wish = { ...LISTED, show: 'quote', order: 'place' } as const
  expect(ids(arranged(LIST, wish))).toBe('abcde')
  expect([shownKind(LIST, wish), shownKind(LIST, { ...wish, show: 'link' })]).toEqual([
    'all',
    'link',
  ])
})

it('goes on in the order of the list, also from a change that is not in it', () => {
  const byWeight = { ...LISTED, show: 'marked', order: 'weight' } as const
  const list = arranged(LIST, byWeight)
  const [, , number, other, negation] = LIST
  const left = list.filter((hunk) => hunk !== number)
  expect(following(left, number!, comparing(byWeight))?.id).toBe('b')
  expect(following(list.slice(1), negation!, comparing(byWeight))?.id).toBe('c')
  expect(neighbour(list, 'c', 1, number, comparing(byWeight))?.id).toBe('b')
  const inPlace = { ...LISTED, show: 'marked', order: 'place' } as const
  expect(neighbour(arranged(LIST, inPlace), 'd', 1, other, comparing(inPlace))?.id).toBe('e')
  expect(neighbour(arranged(LIST, inPlace), 'd', -1, other, comparing(inPlace))?.id).toBe('c')
})

it('offers the kinds that there are, with their numbers', () => {
  expect(showChoices(LIST)).toEqual([
    ['all', 'All changes (5)'],
    ['marked', 'Changes of meaning (3)'],
    ['negation', '“not” and “no” (1)'],
    ['number', 'numbers (1)'],
    ['link', 'links (2)'],
  ])
})

it('says why a change needs more people: for the kinds that a policy names', () => {
  const both = hunk('a', mark('number'), mark('link'))
  expect(becauseOf(both, [{ marks: ['number', 'name'], policy: 'two' }])).toBe(
    'because it changes a number',
  )
  expect(becauseOf(both, [])).toBe('because it changes a number and a link')
  expect(becauseOf(hunk('a'), [])).toBe('')
})

const accepting = (accepted: Hunk, at = 0): Accept => ({ hunk: accepted, at, pieces: [] })
const accepts = (hunks: readonly Accept[]) => ids(hunks.map((accept) => accept.hunk))
const streak = (times: readonly number[], marked: readonly number[]): readonly Accept[] =>
  times.reduce<readonly Accept[]>((before, at, index) => {
    const accepted = marked.includes(index) ? hunk(`${index}`, mark('number')) : hunk(`${index}`)
    return withAccept(before, accepting(accepted, at))
  }, [])
const fast = (count: number) => Array.from({ length: count }, (_, at) => at * 900)

it('remarks on ten fast accepts with changes of meaning among them', () => {
  expect(accepts(hurriedIn(streak(fast(10), [2, 5, 9])))).toBe('259')
  expect(hurriedIn(streak(fast(9), [2]))).toEqual([])
  expect(hurriedIn(streak(fast(10), []))).toEqual([])
  // The streak that is remarked on is over: the eleventh accept begins the next.
  expect(hurriedIn(streak(fast(11), [2, 10]))).toEqual([])
  expect(accepts(hurriedIn(streak(fast(20), [2, 12])))).toBe('12')
})

it('begins to count anew after a pause', () => {
  const paused = fast(10).map((at, index) => (index < 5 ? at : at + 200))
  expect(hurriedIn(streak(paused, [2]))).toEqual([])
})

it('words the remark by number and kinds', () => {
  const accepted = (...kinds: MarkKind[]) =>
    kinds.map((kind, at) => accepting(hunk(`${at}`, mark(kind))))
  expect(remarkWords(accepted('name', 'number', 'name'))).toBe(
    'You accepted ten changes in ten seconds; 3 of them change numbers or names.',
  )
  expect(remarkWords(accepted('link'))).toBe(
    'You accepted ten changes in ten seconds; 1 of them changes links.',
  )
})
