/**
 * Markdown as CodeMirror's language, from the Lezer grammar alone (the usual package pulls in HTML,
 * CSS and JavaScript).
 */
import {
  HighlightStyle,
  Language,
  LanguageSupport,
  defineLanguageFacet,
  syntaxHighlighting,
} from '@codemirror/language'
import type { Extension } from '@codemirror/state'
import { keymap } from '@codemirror/view'
import { styleTags, tags as t } from '@lezer/highlight'
import { Strikethrough, Table, TaskList, parser } from '@lezer/markdown'
import { continueList } from './continueList.ts'
import { links } from './links.ts'
import { livePreview } from './livePreview.ts'

const data = defineLanguageFacet({ commentTokens: { block: { open: '<!--', close: '-->' } } })
/** Which brackets are links is decided in `links.ts`, where the whole text is known. */
const withoutLinks = styleTags({
  'Link/... Image/...': [],
  'Link/LinkMark Image/LinkMark': [],
})
const language = new Language(
  data,
  parser.configure([Strikethrough, Table, TaskList, { props: [withoutLinks] }]),
  [],
  'markdown',
)

const look = HighlightStyle.define([
  { tag: t.heading1, class: 'md-h1' },
  { tag: t.heading2, class: 'md-h2' },
  { tag: [t.heading3, t.heading4, t.heading5, t.heading6], class: 'md-h3' },
  { tag: t.emphasis, class: 'md-em' },
  { tag: t.strong, class: 'md-strong' },
  { tag: t.strikethrough, class: 'md-strike' },
  { tag: t.monospace, class: 'md-code' },
  { tag: t.url, class: 'md-url' },
  { tag: [t.processingInstruction, t.contentSeparator], class: 'md-mark' },
])

export function markdown(): Extension {
  return [
    new LanguageSupport(language),
    syntaxHighlighting(look),
    links,
    livePreview,
    keymap.of([{ key: 'Enter', run: continueList }]),
  ]
}
