import { ChangeSet, EditorState, Text } from '@codemirror/state'
import { expect, it } from 'vitest'
import { previews, putBack, type PutBack } from './putBack.ts'
import { arrived, unsentEdit, withoutPlace, wordsOf } from './unsentEdit.ts'

const BASE = `# Chapter Four: The Ferry

Alpha beta gamma delta.

The fog came in twice that night. Nobody minded.

The fog came in twice that night. Everybody minded.`

const text = (words: string): Text => Text.of(words.split('\n'))

/** Replaces words of `BASE`, the last ones of these that stand in it. */
function typed(sought: string, insert: string) {
  const from = BASE.lastIndexOf(sought)
  const changes = ChangeSet.of({ from, to: from + sought.length, insert }, BASE.length)
  return unsentEdit({ doc: text(BASE), version: 7 }, [{ changes, clientID: 'ours' }], 'one')!
}

function read(doc: string, { replacements }: PutBack): string {
  return EditorState.create({ doc }).update({ changes: replacements }).newDoc.toString()
}

/** Changes of others meanwhile. */
function others(...edits: { from: number; to?: number; insert?: string }[]) {
  const changes = ChangeSet.of(edits, BASE.length)
  return { changes, doc: changes.apply(text(BASE)) }
}

it('puts words where they were typed, whatever others put before them', () => {
  const edit = typed(' Everybody', ' A NEW SENTENCE. Everybody')
  const { changes, doc } = others({ from: 0, insert: 'Preface\n\n' }, { from: 40, insert: 'x' })
  const found = putBack(edit, doc, [{ clientID: 'theirs', changes }])
  expect(found.isExact).toBe(true)
  expect(read(doc.toString(), found)).toContain('night. A NEW SENTENCE. Everybody minded.')
})

it.each([
  ['words', 'gamma', 'gamma NEW', 'Alpha beta gamma NEW delta.'],
  ['a deletion', ' gamma', '', 'Alpha beta delta.'],
  ['a replacement', 'gamma', 'GAMMA', 'Alpha beta GAMMA delta.'],
])('finds the place of %s by the words around it', (_, sought, insert, expected) => {
  const now = `Another title\n\n${BASE.replace('# Chapter Four: The Ferry\n\n', '')}`
  const found = putBack(typed(sought, insert), text(now), null)
  expect([read(now, found).split('\n')[2], found.isExact]).toEqual([expected, true])
})

it('takes the nearer of two places that read alike', () => {
  const found = putBack(
    typed('twice that night. Every', 'thrice that night. Every'),
    text(BASE),
    null,
  )
  expect(read(BASE, found)).toContain('thrice that night. Everybody')
  expect(read(BASE, found)).toContain('twice that night. Nobody')
})

it('puts words whose place is gone at the end, and never in front of the title', () => {
  const now = '# Chapter Four: The Ferry\n\nAll of it was written anew.'
  const edit = typed('beta gamma', 'beta NEW gamma')
  const found = putBack(edit, text(now), null)
  expect([read(now, found), found.isExact]).toEqual([`${now}\n\nbeta NEW gamma`, false])
  const old = putBack(withoutPlace(' old words ', 'two'), text(now), null)
  expect(read(now, old)).toBe(`${now}\n\nold words`)
})

it('does not follow into a text that was written anew', () => {
  const { changes, doc } = others({ from: 0, to: BASE.length, insert: '# Anew\n\nAll of it.' })
  const found = putBack(typed('gamma', 'NEW'), doc, [{ clientID: 'theirs', changes }])
  expect([read(doc.toString(), found), found.isExact]).toEqual([
    '# Anew\n\nAll of it.\n\nNEW',
    false,
  ])
})

it('deletes nothing else than what was deleted, and says what it did not find', () => {
  const now = BASE.replace('gamma', 'something else')
  const found = putBack(typed('gamma', ''), text(now), null)
  expect([read(now, found), found.notFound]).toEqual([now, ['gamma']])
})

it('does not follow a history of another text', () => {
  const now = `${BASE} And more.`
  const found = putBack(typed('gamma', 'gamma NEW'), text(now), [])
  expect(read(now, found)).toContain('beta gamma NEW delta')
  const edit = typed('gamma', 'x')
  const broken = { ...edit, base: { ...edit.base!, changes: [[-1]] } }
  expect(read(BASE, putBack(broken, text(BASE), []))).toContain('beta x delta')
})

it('keeps several places of one edit apart, and each in its place', () => {
  const changes = ChangeSet.of(
    [
      { from: BASE.indexOf('gamma'), insert: 'NEW ' },
      { from: BASE.indexOf(' Nobody minded.'), to: BASE.indexOf(' Nobody minded.') + 15 },
    ],
    BASE.length,
  )
  const edit = unsentEdit({ doc: text(BASE), version: 7 }, [{ changes, clientID: 'ours' }], 'one')!
  for (const since of [[], null]) {
    const now = read(BASE, putBack(edit, text(BASE), since))
    expect(now).toContain('beta NEW gamma')
    expect(now).toContain('night.\n\nThe fog')
  }
  expect(wordsOf(edit)).toBe('NEW ')
})

it('keeps nothing of blanks alone', () => {
  const changes = ChangeSet.of({ from: 3, insert: '  ' }, BASE.length)
  expect(
    unsentEdit({ doc: text(BASE), version: 7 }, [{ changes, clientID: 'ours' }], 'one'),
  ).toBeNull()
  expect(unsentEdit({ doc: text(BASE), version: 7 }, [], 'one')).toBeNull()
})

it('knows what has arrived after all', () => {
  const changes = ChangeSet.of({ from: 0, insert: 'NEW ' }, BASE.length)
  const update = { changes, clientID: 'ours' }
  const more = {
    changes: ChangeSet.of({ from: 4, insert: 'WORDS ' }, BASE.length + 4),
    clientID: 'ours',
  }
  const edit = unsentEdit({ doc: text(BASE), version: 7 }, [update, more], 'one')!
  const theirs = { changes, clientID: 'theirs' }
  expect(arrived(edit, [theirs])).toBe('none')
  expect(arrived(edit, [theirs, update])).toBe('some')
  expect(arrived(edit, [update, theirs, more])).toBe('all')
  expect(arrived(withoutPlace('words', 'two'), [update])).toBe('none')
})

it('shows what goes and comes, with the words around it', () => {
  const edit = typed('gamma', 'GAMMA')
  expect(previews(putBack(edit, text(BASE), []), text(BASE))).toEqual([
    {
      before: 'Alpha beta ',
      gone: 'gamma',
      put: 'GAMMA',
      after: ' delta.',
    },
  ])
})
