import { beforeEach, expect, test } from 'vitest'
import { useToasts } from '../ui/toasts.ts'
import type { DocumentFile, FileState } from '../wire/types.ts'
import { heardOfFile, wordsOf, wordsOfOverruled } from './file.ts'
import { EMPTY, useDocument } from './store.ts'

const file: FileState = { path: 'notes.md', status: 'saved', version: 3 }
const news = (more: Partial<DocumentFile>): DocumentFile => ({ documentId: 'd', file, ...more })
const toasts = () => useToasts.getState().toasts.map((toast) => toast.text)

beforeEach(() => {
  useDocument.setState(EMPTY)
  useToasts.setState({ toasts: [] })
})

test('what was merged is said once, and what did not come in is kept to be read', () => {
  const kept = [{ base: 'red', disk: 'green', kept: 'blue' }]
  heardOfFile(news({ merged: { kept: [] } }))
  heardOfFile(news({ merged: { kept } }))
  heardOfFile(news({}))
  expect(toasts()).toEqual(['Changed on disk: merged'])
  expect(useDocument.getState().overruled).toEqual(kept)
})

test('a file that follows again is said', () => {
  heardOfFile(news({ file: { ...file, status: 'failed', reason: 'disk full' } }))
  expect(toasts()).toEqual([])
  heardOfFile(news({}))
  expect(toasts()).toEqual(['The file on disk follows again'])
})

test('only what needs somebody is shown for longer', () => {
  expect(wordsOf(file)).toBeUndefined()
  expect(wordsOf({ ...file, status: 'missing' })).toMatch(/^notes.md is no longer on disk/)
  expect(wordsOf({ ...file, status: 'failed', reason: 'disk full' })).toMatch('disk full')
  expect(wordsOfOverruled(1)).toMatch('in 1 place that')
})
