import { expect, it } from 'vitest'
import { AI, complete, knownPeople, mentionsIn, pieces } from './mentions.ts'

const ana = { id: 'usr_1', name: 'Ana' }
const annabel = { id: 'usr_2', name: 'Ana Bel' }
const bo = { id: 'usr_3', name: 'Bo' }
const people = [ana, annabel, bo]

it('completes a name after an @ that begins a word', () => {
  const names = (text: string, caret = text.length) =>
    complete(text, caret, people)?.people.map(({ name }) => name) ?? []
  expect(names('Ask @a')).toEqual(['Ana', 'Ana Bel'])
  expect(names('Ask @')).toEqual(['Ana', 'Ana Bel', 'Bo'])
  expect(names('Ask @bel')).toEqual(['Ana Bel'])
  expect(names('Ask @ana b')).toEqual(['Ana Bel'])
  expect(names('Ask @bo')).toEqual([])
  expect(names('mail@b')).toEqual([])
  expect(names('@x\n')).toEqual([])
  expect(names('@bo and more', 2)).toEqual(['Ana Bel', 'Bo'])
  expect(complete('Ask @b', 6, people)?.from).toBe(4)
})

it('shows whole names only, and the longest', () => {
  expect(pieces('@Ana Bel, @Ana and @Bob', people)).toEqual([
    { text: '@Ana Bel', person: annabel },
    { text: ', ' },
    { text: '@Ana', person: ana },
    { text: ' and @Bob' },
  ])
})

it('mentions the people who are named, and of two with one name the one who was picked', () => {
  const other = { id: 'usr_4', name: 'Bo' }
  expect(mentionsIn('@Ana, @Ana!', people, [])).toEqual(['usr_1'])
  expect(mentionsIn('@Bo', [...people, other], [])).toEqual([])
  expect(mentionsIn('@Bo', [...people, other], ['usr_4'])).toEqual(['usr_4'])
  expect(mentionsIn('Nobody', people, ['usr_1'])).toEqual([])
})

it('knows who is here and who wrote, each once and without oneself', () => {
  const peers = [
    { user: 'usr_3', name: 'Bo' },
    { user: 'me', name: 'Me' },
    { user: 'usr_3', name: 'Bo' },
  ]
  const said = { id: 'c', text: '', at: '', mentions: [] }
  const comments = [{ ...said, author: ana }]
  const thread = {
    id: 't',
    documentId: 'd',
    anchor: null,
    quote: '',
    status: 'open' as const,
    comments,
  }
  expect(knownPeople(peers, [thread], [annabel], 'me')).toEqual(people)
})

it('mentions the AI in small letters, too', () => {
  expect(mentionsIn('@ai, is it?', [AI, ...people], [])).toEqual(['ai'])
  expect(pieces('@ai?', [AI])[0]).toEqual({ text: '@ai', person: AI })
  expect(mentionsIn('@aim and mail@ai', [AI], [])).toEqual([])
  expect(mentionsIn('@bo', people, [])).toEqual([])
})
