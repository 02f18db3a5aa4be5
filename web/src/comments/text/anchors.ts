/** Words that are commented on: underlined, with a mark beside the line on which they begin. */
import { type EditorState, StateEffect, StateField } from '@codemirror/state'
import { Decoration, EditorView, layer, type LayerMarker } from '@codemirror/view'
import type { CommentThread, Range } from '../../wire/generated.ts'
import { findQuote } from '../state/drafts.ts'
import { mapPlace } from '../state/threads.ts'
import { showThread, useComments } from '../stores/threads.ts'
import { type MarkedLine, markedLines, markWords } from './marks.ts'
import './anchors.css'

/** Names the passage that a comment is being written about, as it was selected. */
export const newId = ({ from, to }: Range): string => `${NEW}${from}-${to}`
const NEW = 'new '
const isNew = ({ id }: Anchor): boolean => id.startsWith(NEW)

interface Anchor extends Range {
  id: string
  unread: boolean
  active: boolean
}

const setAnchors = StateEffect.define<readonly Anchor[]>()

const anchorField = StateField.define<readonly Anchor[]>({
  create: () => [],
  update(anchors, tr) {
    for (const effect of tr.effects)
      if (effect.is(setAnchors)) return effect.value.filter(({ to }) => to <= tr.newDoc.length)
    if (!tr.docChanged || anchors.length === 0) return anchors
    return anchors.map((anchor) => ({ ...anchor, ...mapPlace(anchor, tr.changes) }))
  },
  provide: (field) =>
    EditorView.decorations.from(field, (anchors) =>
      Decoration.set(
        anchors.filter(({ from, to }) => from < to).map((anchor) => underline(anchor)),
        true,
      ),
    ),
})

const underline = ({ id, unread, active, from, to }: Anchor) =>
  Decoration.mark({
    tagName: 'mark',
    class: `cm-comment ${unread ? 'is-unread' : ''} ${active ? 'is-active' : ''}`,
    attributes: { 'data-thread': id },
  }).range(from, to)

const anchorsIn = (state: EditorState): readonly Anchor[] => state.field(anchorField, false) ?? []

/** Returns the place of a thread, or of the words that are being written about; `null`: none. */
export function placeOf(state: EditorState, id: string): Range | null {
  const found = anchorsIn(state).find((anchor) => anchor.id === id)
  return found ? { from: found.from, to: found.to } : null
}

/** Returns the innermost thread at a position. */
export function threadAt(state: EditorState, at: number): string | null {
  const around = anchorsIn(state).filter(
    (anchor) => !isNew(anchor) && anchor.from <= at && at <= anchor.to,
  )
  return around.toSorted((a, b) => a.to - a.from - (b.to - b.from))[0]?.id ?? null
}

/** Shows threads at their places in the text, and what a comment is being written about. */
export function drawAnchors(view: EditorView, threads: readonly CommentThread[]): void {
  const { active, composing, unread } = useComments.getState()
  const anchors: Anchor[] = threads
    .filter(({ status }) => status === 'open')
    .flatMap(({ id, anchor }) =>
      anchor ? [{ id, ...anchor, unread: unread.has(id), active: id === active }] : [],
    )
  if (composing?.on === 'passage') {
    const { quote, range } = composing
    const id = newId(range)
    const place = placeOf(view.state, id) ?? findQuote(view.state.doc.toString(), quote, range.from)
    if (place) anchors.push({ id, ...place, unread: false, active: true })
  }
  if (view.state.field(anchorField, false) === undefined)
    view.dispatch({ effects: StateEffect.appendConfig.of(commentedWords) })
  if (JSON.stringify(anchors) !== JSON.stringify(anchorsIn(view.state)))
    view.dispatch({ effects: setAnchors.of(anchors) })
}

/** Brings the words of a thread into view; `true`: with the caret and the keyboard. */
export function goTo(view: EditorView, id: string, focus = false): void {
  const place = placeOf(view.state, id)
  if (place)
    view.dispatch({
      ...(focus && { selection: { anchor: place.from } }),
      effects: EditorView.scrollIntoView(place.from, { y: 'center' }),
    })
  if (focus) view.focus()
}

class LineMark implements LayerMarker {
  constructor(private readonly line: MarkedLine) {}

  eq(other: LineMark): boolean {
    return JSON.stringify(other.line) === JSON.stringify(this.line)
  }

  draw(): HTMLElement {
    const { top, ids, next, unread, active } = this.line
    const mark = document.createElement('button')
    mark.type = 'button'
    // The panel offers the same as ordinary DOM.
    mark.tabIndex = -1
    mark.className = `cm-comment-mark ${unread ? 'is-unread' : ''} ${active ? 'is-active' : ''}`
    mark.style.top = `${top}px`
    mark.title = markWords(this.line)
    mark.dataset.threads = ids.join(' ')
    mark.innerHTML =
      '<svg viewBox="0 0 16 16" width="20" height="20" fill="none" stroke="currentColor" stroke-width="1.4" stroke-linejoin="round"><path d="M3 3.500h10v7H7.500L5 12.800V10.500H3z"/></svg>'
    if (ids.length > 1) mark.appendChild(document.createElement('span')).append(`${ids.length}`)
    // Keeps the writer's caret where it is.
    mark.onmousedown = (event) => event.preventDefault()
    mark.onclick = () => showThread(next)
    return mark
  }
}

const marks = layer({
  above: true,
  class: 'cm-comment-marks',
  update: ({ startState, state, docChanged, viewportChanged }) =>
    docChanged || viewportChanged || anchorsIn(startState) !== anchorsIn(state),
  markers(view) {
    const { top } = view.scrollDOM.getBoundingClientRect()
    const { from, to } = view.viewport
    const shown = anchorsIn(view.state).filter(
      (anchor) => !isNew(anchor) && from <= anchor.from && anchor.from <= to,
    )
    const found = shown.flatMap(({ from: at, ...anchor }) => {
      const coords = view.coordsAtPos(at, 1)
      return coords ? [{ ...anchor, top: Math.round((coords.top + coords.bottom) / 2 - top) }] : []
    })
    return markedLines(found).map((line) => new LineMark(line))
  },
})

/** The thread of the words at the caret is the active one. */
const followCaret = EditorView.updateListener.of(({ selectionSet, state, view }) => {
  if (!selectionSet || !view.hasFocus) return
  const active = threadAt(state, state.selection.main.head)
  if (active !== useComments.getState().active) useComments.setState({ active })
})

const commentedWords = [anchorField, marks, followCaret]
