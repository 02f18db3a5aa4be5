import { beforeEach, expect, test } from 'vitest'
import { useToasts } from '../ui/toasts.ts'
import type { DocumentFile, FileState } from '../wire/generated.ts'
import { fileStateMessage, receiveFileState, wordsOfOverruled } from './fileState.ts'
import { EMPTY, useOpenDocument } from './useOpenDocument.ts'

const file: FileState = { path: 'notes.md', status: 'saved', version: 3 }
const news = (more: Partial<DocumentFile>): DocumentFile => ({ documentId: 'd', file, ...more })
const toasts = () => useToasts.getState().toasts.map((toast) => toast.text)

beforeEach(() => {
  useOpenDocument.setState(EMPTY)
  useToasts.setState({ toasts: [] })
})

test('what was merged is said once, and what did not come in is kept to be read', () => {
  const kept = [{ base: 'red', disk: 'green', kept: 'blue' }]
  receiveFileState(news({ merged: { kept: [] } }))
  receiveFileState(news({ merged: { kept } }))
  receiveFileState(news({}))
  expect(toasts()).toEqual(['Changed on disk: merged'])
  expect(useOpenDocument.getState().overruled).toEqual(kept)
})

test('a file that follows again is said', () => {
  receiveFileState(news({ file: { ...file, status: 'failed', reason: 'disk full' } }))
  expect(toasts()).toEqual([])
  receiveFileState(news({}))
  expect(toasts()).toEqual(['The file on disk follows again'])
})

test('only what needs somebody is shown for longer', () => {
  expect(fileStateMessage(file)).toBeUndefined()
  expect(fileStateMessage({ ...file, status: 'missing' })).toMatch(/^notes.md is no longer on disk/)
  expect(fileStateMessage({ ...file, status: 'failed', reason: 'disk full' })).toMatch('disk full')
  expect(wordsOfOverruled(1)).toMatch('in 1 place that')
})
