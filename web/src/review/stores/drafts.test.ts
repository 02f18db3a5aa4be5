import { expect, it } from 'vitest'
import { useOpenDocument } from '../../document/useOpenDocument.ts'
import {
  forgetDrafts,
  halfWritten,
  keptEdits,
  useInboxDrafts,
  useDrafts,
  writeDraft,
} from './drafts.ts'
import { draftOf, NO_DRAFTS } from '../state/drafts.ts'

it('keeps what is written at the desk apart from what is written in a document', () => {
  writeDraft('h', 'in the text')
  writeDraft(draftOf('r', 'answer'), 'at the desk', useInboxDrafts)
  useDrafts.setState(NO_DRAFTS)
  expect(halfWritten()).toEqual(['at the desk'])
  writeDraft(draftOf('r', 'answer'), null, useInboxDrafts)
  expect(halfWritten()).toEqual([])
})

it('keeps edits of changes for those who may write', () => {
  writeDraft('h', 'in the text')
  useOpenDocument.setState({ role: 'editor' })
  expect(keptEdits()).toEqual({ h: 'in the text' })
  useOpenDocument.setState({ role: 'reviewer' })
  expect(keptEdits()).toEqual({})
  useDrafts.setState(NO_DRAFTS)
})

it('gathers all words for somebody who loses sight of the page', () => {
  useDrafts.setState({ written: { h: 'mine' }, orphans: [{ id: 'x', text: 'older', why: '' }] })
  useInboxDrafts.setState({ written: { 'r reason': 'no', 'r note': ' ' }, orphans: [] })
  expect(halfWritten()).toEqual(['older', 'mine', 'no'])
  forgetDrafts()
  expect(halfWritten()).toEqual([])
})
