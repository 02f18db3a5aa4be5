/**
 * Links of a Markdown text: brackets are a link if an address follows them, or if the text defines
 * one for them (`[label]: address`). All other brackets are words.
 */
import { syntaxTree } from '@codemirror/language'
import type { EditorState, Range } from '@codemirror/state'
import { Decoration, type DecorationSet, type EditorView } from '@codemirror/view'
import type { SyntaxNode, Tree } from '@lezer/common'
import { seenDecorations } from './seenDecorations.ts'

/** Blocks that may contain a definition. */
const CONTAINERS = new Set(['Document', 'Blockquote', 'BulletList', 'OrderedList', 'ListItem'])

const definitions = new WeakMap<Tree, ReadonlySet<string>>()

/** Labels that the text defines. */
function definedLabels(state: EditorState): ReadonlySet<string> {
  const tree = syntaxTree(state)
  const known = definitions.get(tree)
  if (known) return known
  const labels = new Set<string>()
  tree.iterate({
    enter: ({ name, node }) => {
      const label = name === 'LinkReference' && node.getChild('LinkLabel')
      if (label) labels.add(normalized(state.sliceDoc(label.from + 1, label.to - 1)))
      return CONTAINERS.has(name)
    },
  })
  definitions.set(tree, labels)
  return labels
}

const normalized = (label: string): string => label.trim().replace(/\s+/g, ' ').toLowerCase()

/**
 * Returns whether a `Link` or an `Image` of the parser has an address: the parser does not check
 * that.
 */
export function hasAddress(state: EditorState, node: SyntaxNode): boolean {
  const [open, close, ...ofAddress] = node.getChildren('LinkMark')
  if (!open || !close || ofAddress.length > 0) return ofAddress.length > 0
  const reference = node.getChild('LinkLabel')
  const isFull = reference && reference.to - reference.from > '[]'.length
  const [from, to] = isFull ? [reference.from + 1, reference.to - 1] : [open.to, close.from]
  const label = state.sliceDoc(from, to)
  const isFootnote = label.startsWith('^')
  return !isFootnote && definedLabels(state).has(normalized(label))
}

const link = Decoration.mark({ class: 'md-link' })
const mark = Decoration.mark({ class: 'md-mark' })

/** Draws links as such; the highlighter would do so with all brackets. */
export function linkDecorations({
  state,
  visibleRanges,
}: Pick<EditorView, 'state' | 'visibleRanges'>): DecorationSet {
  const found: Range<Decoration>[] = []
  for (const { from, to } of visibleRanges)
    syntaxTree(state).iterate({
      from,
      to,
      enter: ({ name, node }) => {
        if ((name !== 'Link' && name !== 'Image') || !hasAddress(state, node)) return
        found.push(link.range(node.from, node.to))
        for (const part of node.getChildren('LinkMark')) found.push(mark.range(part.from, part.to))
      },
    })
  return Decoration.set(found, true)
}

export const links = seenDecorations(
  linkDecorations,
  ({ startState, state }) => syntaxTree(startState) !== syntaxTree(state),
)
