/**
 * Live preview: Markdown's marks show only where the caret is, and always inside a pending change.
 */
import { syntaxTree } from '@codemirror/language'
import type { EditorState, Range, SelectionRange } from '@codemirror/state'
import { type EditorView, Decoration, type DecorationSet } from '@codemirror/view'
import type { SyntaxNode, SyntaxNodeRef } from '@lezer/common'
import { Drawn } from '../../ui/drawn.ts'
import type { Span } from '../../review/state/hunk.ts'
import { reviewedSpans, reviewField } from '../../review/text/reviewField.ts'
import { seenDecorations } from './seenDecorations.ts'
import { hasAddress } from './links.ts'
import { paddingOf } from './tables.ts'
import './livePreview.css'

const HIDDEN = new Set([
  'HeaderMark',
  'EmphasisMark',
  'CodeMark',
  'StrikethroughMark',
  'QuoteMark',
  'Escape',
])
/** Hidden where they belong to words that are shown as a link. */
const LINK_PARTS = new Set(['LinkMark', 'LinkLabel', 'URL', 'LinkTitle'])
const hide = Decoration.replace({})
const LINES: Record<string, string> = {
  ATXHeading1: 'line-h1',
  ATXHeading2: 'line-h2',
  ATXHeading3: 'line-h3',
  ATXHeading4: 'line-h3',
  ATXHeading5: 'line-h3',
  ATXHeading6: 'line-h3',
  Blockquote: 'line-quote',
  FencedCode: 'line-code',
  CodeBlock: 'line-code',
  HorizontalRule: 'line-rule',
  ListItem: 'line-item',
}

/** Widget in the place of a mark. */
class Sign extends Drawn<{ sign: string; name: string }> {
  toDOM(): HTMLElement {
    const shown = document.createElement('span')
    shown.className = this.shows.name
    shown.textContent = this.shows.sign
    return shown
  }
}

const replacement = (sign: string, name: string) =>
  Decoration.replace({ widget: new Sign({ sign, name }) })
const bullet = replacement('•', 'md-bullet')
const openBox = replacement('☐', 'md-box')
const doneBox = replacement('☑', 'md-box')
const rule = replacement('', 'md-rule')
const picture = replacement('Picture: ', 'md-picture')
/** Deeper lists are not indented further. */
const DEEPEST = 4

/** The decorations of a part of the text, and their inputs. */
interface Drawing {
  state: EditorState
  /** The lines in which the writer is. */
  busy: readonly SelectionRange[]
  /** The spans that pending changes touch. */
  reviewed: readonly Span[]
  /** The part that is drawn. */
  seen: Span
  deco: Range<Decoration>[]
  /** The classes of lines, by where they begin. */
  lines: Map<number, Set<string>>
}

/** Decorations of what is seen. */
export function build({
  state,
  hasFocus,
  visibleRanges,
}: Pick<EditorView, 'state' | 'hasFocus' | 'visibleRanges'>): DecorationSet {
  const deco: Range<Decoration>[] = []
  const lines = new Map<number, Set<string>>()
  const busy = hasFocus ? state.selection.ranges : []
  for (const seen of visibleRanges) {
    const { from, to } = seen
    const reviewed = reviewedSpans(state, from, to)
    const drawing = { state, busy, reviewed, seen, deco, lines }
    syntaxTree(state).iterate({ from, to, enter: (node) => visit(drawing, node) })
    blanks(state, from, to, lines)
  }
  for (const [at, classes] of lines)
    deco.push(Decoration.line({ class: [...classes].join(' ') }).range(at))
  return Decoration.set(deco, true)
}

/** Answers whether to go on into the node. */
function visit(drawing: Drawing, node: SyntaxNodeRef): boolean {
  const { state, deco } = drawing
  if (node.name === 'Table') {
    drawTable(drawing, node.node)
    return false
  }
  const name = LINES[node.name]
  if (name) mark(drawing, node.from, node.to, name)
  if (node.name === 'ListItem') mark(drawing, node.from, node.to, `line-item-${depthOf(node)}`)
  if (node.name === 'HorizontalRule' && quiet(drawing, node.from, node.to))
    deco.push(rule.range(node.from, node.to))
  if (
    node.name === 'ListMark' &&
    /^[-*+]$/.test(state.sliceDoc(node.from, node.to)) &&
    quiet(drawing, node.from, node.to)
  )
    deco.push(bullet.range(node.from, node.to))
  if (node.name === 'TaskMarker' && quiet(drawing, node.from, node.to)) {
    const done = state.sliceDoc(node.from, node.to) !== '[ ]'
    deco.push((done ? doneBox : openBox).range(node.from, node.to))
  }
  hideMark(drawing, node)
  return true
}

function hideMark(drawing: Drawing, node: SyntaxNodeRef): void {
  const { state, deco } = drawing
  if (!isHidden(state, node) || !quiet(drawing, node.from, node.to)) return
  // What goes over the end of a line cannot be hidden.
  if (node.to > state.doc.lineAt(node.from).to) return
  const text = state.sliceDoc(node.from, node.to + 1)
  if (text.startsWith('![')) return void deco.push(picture.range(node.from, node.to))
  const marksLine = node.name === 'HeaderMark' || node.name === 'QuoteMark'
  // A title stands apart from its address.
  const apart = node.name === 'LinkTitle' && state.sliceDoc(node.from - 1, node.from) === ' '
  const from = apart ? node.from - 1 : node.from
  // The character behind a backslash is a word's.
  const end = node.name === 'Escape' ? node.from + 1 : node.to
  deco.push(hide.range(from, end + (marksLine && text.endsWith(' ') ? 1 : 0)))
}

function isHidden(state: EditorState, { name, node }: SyntaxNodeRef): boolean {
  if (!LINK_PARTS.has(name)) return HIDDEN.has(name)
  const around = node.parent
  if (around?.name === 'Autolink') return name === 'LinkMark'
  return (around?.name === 'Link' || around?.name === 'Image') && hasAddress(state, around)
}

/** Number of lists that the item is in; 1: it is in one. */
function depthOf({ node }: SyntaxNodeRef): number {
  let depth = 0
  for (let at: SyntaxNode | null = node; at && depth < DEEPEST; at = at.parent)
    if (at.name === 'ListItem') depth++
  return depth
}

const ROWS: Record<string, string> = {
  TableHeader: 'line-table-head',
  TableDelimiter: 'line-table-dashes',
  TableRow: 'line-table-row',
}

/** Its source as it is, aligned; no mark of it is hidden, else its columns would not be. */
function drawTable(drawing: Drawing, table: SyntaxNode): void {
  const { state, seen, deco } = drawing
  const rows: SyntaxNode[] = []
  for (let row = table.firstChild; row; row = row.nextSibling) if (ROWS[row.name]) rows.push(row)
  const paddings = paddingOf(rows.map(({ from, to }) => state.sliceDoc(from, to)))
  rows.forEach((row, number) => {
    if (row.to < seen.from || row.from > seen.to) return
    mark(drawing, row.from, row.to, 'line-table')
    mark(drawing, row.from, row.to, ROWS[row.name]!)
    for (const { at, text } of paddings[number]!)
      deco.push(
        Decoration.widget({ widget: new Sign({ sign: text, name: 'md-pad' }), side: 1 }).range(
          row.from + at,
        ),
      )
  })
}

/** Neither on the writer's own line nor under review: reviewers must see exactly what changes. */
function quiet({ state, busy, reviewed }: Drawing, from: number, to: number): boolean {
  const line = state.doc.lineAt(from)
  const here = busy.some((range) => range.from <= line.to && range.to >= line.from)
  return !here && !reviewed.some((span) => span.from < to && from < span.to)
}

function mark({ state, lines, seen }: Drawing, from: number, to: number, name: string): void {
  const end = Math.min(to, seen.to)
  for (let at = Math.max(from, state.doc.lineAt(seen.from).from); at <= end;) {
    const line = state.doc.lineAt(at)
    const classes = lines.get(line.from) ?? new Set()
    lines.set(line.from, classes.add(name))
    at = line.to + 1
  }
}

/** Blank lines are shorter, so that gaps between paragraphs look typeset. */
function blanks(
  state: EditorState,
  from: number,
  to: number,
  lines: Map<number, Set<string>>,
): void {
  for (let at = from; at <= to;) {
    const line = state.doc.lineAt(at)
    if (line.length === 0)
      lines.set(line.from, (lines.get(line.from) ?? new Set()).add('line-blank'))
    at = line.to + 1
  }
}

export const livePreview = seenDecorations(
  build,
  ({ startState, state, selectionSet, focusChanged }) =>
    selectionSet ||
    focusChanged ||
    syntaxTree(startState) !== syntaxTree(state) ||
    startState.field(reviewField, false)?.hunks !== state.field(reviewField, false)?.hunks,
)
