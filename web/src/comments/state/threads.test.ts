import { ChangeSet } from '@codemirror/state'
import { expect, it } from 'vitest'
import {
  announcement,
  followChanges,
  listed,
  mapPlace,
  newComments,
  shortQuote,
  subjectOf,
  unreadCount,
  withThread,
} from './threads.ts'
import type { CommentThread, Comment } from '../../wire/generated.ts'

const TEXT = 'The lamp was lit at six.'
const LAMP = { from: 4, to: 8 }

const said = (id: string, who = 'ana', more: Partial<Comment> = {}): Comment => ({
  id,
  author: { id: who, name: who },
  text: `words of ${who}`,
  at: `2026-11-28T10:00:0${id.length}Z`,
  mentions: [],
  ...more,
})

const thread = (id: string, more: Partial<CommentThread> = {}): CommentThread => ({
  id,
  documentId: 'doc_1',
  anchor: LAMP,
  quote: 'lamp',
  status: 'open',
  comments: [said('a')],
  ...more,
})

const edit = (from: number, to: number, insert = '', length = TEXT.length) =>
  ChangeSet.of({ from, to, insert }, length)

const read = (text: string, { from, to }: { from: number; to: number }) => text.slice(from, to)

it('leaves what is typed at an edge outside, and takes what is typed inside along', () => {
  expect(mapPlace(LAMP, edit(4, 4, 'old '))).toEqual({ from: 8, to: 12 })
  expect(mapPlace(LAMP, edit(8, 8, 's'))).toEqual(LAMP)
  const inside = edit(6, 6, '--')
  const text = `${TEXT.slice(0, 6)}--${TEXT.slice(6)}`
  expect(read(text, mapPlace(LAMP, inside))).toBe('la--mp')
})

it('is empty at its place once its words are deleted, and never turned around', () => {
  expect(mapPlace(LAMP, edit(0, 12))).toEqual({ from: 0, to: 0 })
  expect(mapPlace(LAMP, edit(4, 8))).toEqual({ from: 4, to: 4 })
  expect(mapPlace(LAMP, edit(2, 8, 'a light'))).toEqual({ from: 9, to: 9 })
})

it('is on the words that take the place of its own', () => {
  expect(mapPlace(LAMP, edit(4, 8, 'light'))).toEqual({ from: 4, to: 9 })
})

it('follows one change after the other', () => {
  const path = [edit(0, 0, 'So. '), edit(0, 4, '', TEXT.length + 4), edit(24, 24, '!')]
  expect(followChanges([thread('t')], path)[0]?.anchor).toEqual(LAMP)
  const whole = thread('w', { anchor: null, quote: '' })
  expect(followChanges([whole], path)[0]).toBe(whole)
})

it('lists the whole document first, then the text from its beginning', () => {
  const threads = [
    thread('last', { anchor: { from: 9, to: 12 } }),
    thread('longer', { anchor: { from: 4, to: 12 } }),
    thread('first'),
    thread('done', { status: 'resolved' }),
    thread('whole', { anchor: null }),
  ]
  expect(listed(threads, 'open').map(({ id }) => id)).toEqual(['whole', 'first', 'longer', 'last'])
  expect(listed(threads, 'resolved').map(({ id }) => id)).toEqual(['done'])
})

it('takes a thread in the place of the same one, and lets go of one without comments', () => {
  const both = withThread([thread('a')], thread('b'))
  expect(withThread(both, thread('a', { status: 'orphaned' })).map(({ status }) => status)).toEqual(
    ['orphaned', 'open'],
  )
  const gone = thread('a', { comments: [said('a', 'ana', { deleted: true })] })
  expect(withThread(both, gone).map(({ id }) => id)).toEqual(['b'])
})

it('is news only what other people wrote, once', () => {
  const before = thread('t')
  const now = thread('t', { comments: [said('a'), said('bb', 'bo'), said('ccc', 'me')] })
  expect(newComments(now, before, 'me').map(({ id }) => id)).toEqual(['bb'])
  expect(newComments(now, now, 'me')).toEqual([])
  expect(newComments(before, undefined, 'ana')).toEqual([])
})

it('counts threads that are unread, but none that is resolved', () => {
  const done = thread('c', { status: 'resolved' })
  expect(unreadCount([thread('a'), thread('b'), done], new Set(['a', 'c']))).toBe(1)
})

it('says what a thread is about', () => {
  expect(subjectOf(thread('a'))).toBe('On these words')
  expect(subjectOf(thread('a', { status: 'orphaned' }))).toBe('The words were deleted')
  expect(subjectOf(thread('a', { anchor: null, quote: '' }))).toBe('On the whole document')
  expect(subjectOf(thread('a', { request_id: 'req_1' }))).toBe('On a change')
  expect(shortQuote(`  two\nlines  ${'x'.repeat(99)}`)).toMatch(/^two lines x+…$/)
})

it('announces who wrote about what', () => {
  const replied = thread('t', { comments: [said('a'), said('bb', 'bo')] })
  expect(announcement(replied, replied.comments[0]!)).toBe('ana commented on “lamp”: words of ana')
  expect(announcement(replied, replied.comments[1]!)).toBe('bo replied about “lamp”: words of bo')
})
