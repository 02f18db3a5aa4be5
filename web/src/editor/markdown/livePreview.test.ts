import { ensureSyntaxTree } from '@codemirror/language'
import { EditorState } from '@codemirror/state'
import type { DecorationSet } from '@codemirror/view'
import { highlightTree, tagHighlighter, tags } from '@lezer/highlight'
import { expect, it } from 'vitest'
import { linkDecorations } from './links.ts'
import { build } from './livePreview.ts'
import { markdown } from './markdown.ts'

function viewOf(doc: string, caret?: number) {
  const state = EditorState.create({
    doc,
    extensions: markdown(),
    ...(caret !== undefined && { selection: { anchor: caret } }),
  })
  ensureSyntaxTree(state, doc.length)
  return { state, hasFocus: caret !== undefined, visibleRanges: [{ from: 0, to: doc.length }] }
}

/** The places of decorations of which `wanted` is true. */
function placesOf(set: DecorationSet, wanted: (spec: { class?: string }) => boolean) {
  const places: { from: number; to: number }[] = []
  set.between(0, Infinity, (from, to, { spec }) => {
    if (wanted(spec as { class?: string })) places.push({ from, to })
  })
  return places
}

/** Returns what is seen of a text while the caret is elsewhere, or at `caret`. */
function shown(doc: string, caret?: number): string {
  const hidden = placesOf(build(viewOf(doc, caret)), (spec) => Object.keys(spec).length === 0)
  return hidden.reduceRight((text, { from, to }) => text.slice(0, from) + text.slice(to), doc)
}

/** Returns the words drawn as a link. */
const linked = (doc: string): string[] =>
  placesOf(linkDecorations(viewOf(doc)), (spec) => spec.class === 'md-link').map(({ from, to }) =>
    doc.slice(from, to),
  )

it.each([
  'He wrote [sic] and […] in [1] and [ed.: check] here.',
  'A note[^1] here.\n\n[^1]: word',
  'See [one][two] and [one][] there.',
  '[sic](he said so) and ![sic] and [sic] (again)',
])('shows brackets without an address as they are: %s', (text) => {
  expect(shown(text)).toBe(text)
  expect(linked(text)).toEqual([])
})

it('colours brackets without an address as words', () => {
  const { state } = viewOf('He wrote [sic] in <https://a.example>.')
  const coloured: string[] = []
  const colours = tagHighlighter([{ tag: [tags.link, tags.processingInstruction], class: 'mark' }])
  highlightTree(ensureSyntaxTree(state, state.doc.length)!, colours, (from, to) =>
    coloured.push(state.sliceDoc(from, to)),
  )
  expect(coloured).toEqual(['<', '>'])
})

it('shows brackets in a heading', () => {
  expect(shown('# The [sic] night')).toBe('The [sic] night')
})

it('hides the address of a link, also in a list', () => {
  expect(shown('- see [the ledger](https://a.example "Title")')).toBe('- see the ledger')
  expect(linked('| [a](b) | [c] |\n| --- | --- |')).toEqual(['[a](b)'])
  expect(shown('<https://a.example>')).toBe('https://a.example')
})

it('knows links whose address is defined elsewhere in the text', () => {
  const definitions = '\n\n> [The  Ledger]: https://a.example\n\n[2]: https://b.example'
  const text = `See [the ledger], [this][the ledger], [2][] and [3].`
  expect(shown(text + definitions).split('\n')[0]).toBe('See the ledger, this, 2 and [3].')
  expect(linked(text + definitions)).toEqual(['[the ledger]', '[this][the ledger]', '[2][]'])
  expect(shown(definitions)).toContain('[2]: https://b.example')
})

it('hides the backslash of an escaped character while the caret is elsewhere', () => {
  const text = 'It is 5\\*4, \\[sic\\] and `a\\*b`.\n\nC:\\Users'
  expect(shown(text)).toBe('It is 5*4, [sic] and `a\\*b`.\n\nC:\\Users'.replaceAll('`', ''))
  expect(shown(text, 0)).toBe(text)
  expect(shown('[a \\[b\\]](https://a.example)')).toBe('a [b]')
})
