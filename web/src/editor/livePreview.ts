/**
 * Live preview: Markdown's marks show only where the caret is, and always inside a pending change.
 */
import { syntaxTree } from '@codemirror/language'
import type { EditorState, Range, SelectionRange } from '@codemirror/state'
import type { EditorView } from '@codemirror/view'
import {
  Decoration,
  type DecorationSet,
  ViewPlugin,
  type ViewUpdate,
  WidgetType,
} from '@codemirror/view'
import type { SyntaxNodeRef } from '@lezer/common'
import { inHunk, reviewField } from '../review/changes/reviewField.ts'

const HIDDEN = new Set([
  'HeaderMark',
  'EmphasisMark',
  'CodeMark',
  'StrikethroughMark',
  'QuoteMark',
  'LinkMark',
])
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

/** What stands in the place of a mark. */
class Sign extends WidgetType {
  constructor(
    readonly sign: string,
    readonly name: string,
  ) {
    super()
  }

  override eq(other: Sign): boolean {
    return other.sign === this.sign
  }

  toDOM(): HTMLElement {
    const shown = document.createElement('span')
    shown.className = this.name
    shown.textContent = this.sign
    return shown
  }
}

const replacement = (sign: string, name: string) =>
  Decoration.replace({ widget: new Sign(sign, name) })
const bullet = replacement('•', 'md-bullet')
const openBox = replacement('☐', 'md-box')
const doneBox = replacement('☑', 'md-box')

function build(view: EditorView): DecorationSet {
  const { state } = view
  const deco: Range<Decoration>[] = []
  const lines = new Map<number, Set<string>>()
  const busy = view.hasFocus ? state.selection.ranges : []
  for (const { from, to } of view.visibleRanges) {
    syntaxTree(state).iterate({ from, to, enter: (node) => visit(state, busy, node, deco, lines) })
    blanks(state, from, to, lines)
  }
  for (const [at, classes] of lines)
    deco.push(Decoration.line({ class: [...classes].join(' ') }).range(at))
  return Decoration.set(deco, true)
}

function visit(
  state: EditorState,
  busy: readonly SelectionRange[],
  node: SyntaxNodeRef,
  deco: Range<Decoration>[],
  lines: Map<number, Set<string>>,
): void {
  const name = LINES[node.name]
  if (name) mark(state, node.from, node.to, name, lines)
  if (
    node.name === 'ListMark' &&
    /^[-*+]$/.test(state.sliceDoc(node.from, node.to)) &&
    quiet(state, busy, node.from, node.to)
  )
    deco.push(bullet.range(node.from, node.to))
  if (node.name === 'TaskMarker' && quiet(state, busy, node.from, node.to)) {
    const done = state.sliceDoc(node.from, node.to) !== '[ ]'
    deco.push((done ? doneBox : openBox).range(node.from, node.to))
  }
  const url = node.name === 'URL' && node.node.parent?.name === 'Link'
  if ((HIDDEN.has(node.name) || url) && quiet(state, busy, node.from, node.to)) {
    const space =
      (node.name === 'HeaderMark' || node.name === 'QuoteMark') &&
      state.sliceDoc(node.to, node.to + 1) === ' '
    deco.push(hide.range(node.from, node.to + (space ? 1 : 0)))
  }
}

/** Neither on the writer's own line nor under review: reviewers must see exactly what changes. */
function quiet(
  state: EditorState,
  busy: readonly SelectionRange[],
  from: number,
  to: number,
): boolean {
  const line = state.doc.lineAt(from)
  const here = busy.some((range) => range.from <= line.to && range.to >= line.from)
  return !here && !inHunk(state, from, to)
}

function mark(
  state: EditorState,
  from: number,
  to: number,
  name: string,
  lines: Map<number, Set<string>>,
): void {
  for (let at = from; at <= to;) {
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

export const livePreview = ViewPlugin.fromClass(
  class {
    decorations: DecorationSet
    constructor(view: EditorView) {
      this.decorations = build(view)
    }

    update(update: ViewUpdate): void {
      const parsed = syntaxTree(update.startState) !== syntaxTree(update.state)
      const reviewed =
        update.startState.field(reviewField, false)?.hunks !==
        update.state.field(reviewField, false)?.hunks
      if (
        update.docChanged ||
        update.viewportChanged ||
        update.selectionSet ||
        update.focusChanged ||
        parsed ||
        reviewed
      )
        this.decorations = build(update.view)
    }
  },
  { decorations: (plugin) => plugin.decorations },
)
