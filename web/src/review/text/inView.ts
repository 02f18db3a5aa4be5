/** Measures whether the active change can be seen, and brings it into view. */
import { EditorView } from '@codemirror/view'
import type { Hunk } from '../../wire/generated.ts'
import { isMoved, shownAt } from '../state/hunk.ts'
import { hunksOf, reviewField, setActive, setTextView } from './reviewField.ts'
import { describe } from '../state/changes.ts'

export const reviewBar = (): HTMLElement | null =>
  document.querySelector<HTMLElement>('[data-review-bar]')

export const isInReviewBar = (): boolean => reviewBar()?.contains(document.activeElement) ?? false

interface Span {
  top: number
  bottom: number
}

/** Of a change taller than the page, so much has to be seen. */
const ENOUGH_OF_PAGE = 0.4

/**
 * Returns whether a change that takes up `lines` is in view between two heights: its first line,
 * and the following lines as far as they fit. Pure.
 */
export function isSeen(lines: readonly Span[], { top, bottom }: Span): boolean {
  const [first] = lines
  if (!first || bottom <= top) return false
  const end = Math.max(...lines.map((line) => line.bottom))
  const height = end - first.top
  const shown = Math.min(end, bottom) - Math.max(first.top, top)
  const begins = first.top >= top && first.bottom <= bottom
  return shown >= Math.min(height, (bottom - top) * ENOUGH_OF_PAGE) && (begins || first.top < top)
}

/**
 * Returns whether a person sees a change now: in the text, or in the panel where that lies over the
 * text.
 */
export function isInView(view: EditorView, hunk: Hunk): boolean {
  const sheet = openSheet()
  if (!sheet && view.state.field(reviewField).shown === 'original') return false
  return sheet ? isRowSeen(hunk.id) : isSeen(linesOf(view, hunk), freePage(view))
}

export const hasOpenSheet = (): boolean => openSheet() !== null

/** The panel, where it is open as a sheet over the text. */
function openSheet(): HTMLElement | null {
  const panel = document.querySelector<HTMLElement>('.panel.is-open')
  return panel && getComputedStyle(panel).position === 'fixed' ? panel : null
}

const rowOf = (id: string): HTMLElement | null =>
  document.querySelector<HTMLElement>(`[data-row="${CSS.escape(id)}"]`)

/** Returns the row of a change, its list, and the part of that above the foot. */
function listedRow(id: string): { row: HTMLElement; body: Element; free: Span } | null {
  const row = rowOf(id)
  const body = row?.closest('.panel-body')
  if (!row || !body) return null
  const foot = row.closest('.proposal')?.querySelector('.proposal-foot')?.getBoundingClientRect()
  const { top, bottom } = body.getBoundingClientRect()
  return { row, body, free: { top, bottom: Math.min(bottom, foot?.top ?? bottom) } }
}

/** Brings the row of a change into view; where not all of it has room, its words. */
export function showRow(id: string): void {
  const found = listedRow(id)
  if (!found) return
  const { row, body, free } = found
  const list = { top: free.top + CARD_GAP_PX, bottom: free.bottom - CARD_GAP_PX }
  body.scrollBy(0, rowScroll(row.getBoundingClientRect(), list))
}

/** Returns how far a list scrolls so that a row is in view: its beginning before its end. Pure. */
export function rowScroll(row: Span, list: Span): number {
  const down = Math.max(0, row.bottom - list.bottom)
  const up = row.top - down - list.top
  return up < 0 ? row.top - list.top : down
}

/** Brings the card of a change into view, down to its buttons. */
export function showCard(id: string): void {
  showRow(id)
  const found = listedRow(id)
  if (!found) return
  const { row, body, free } = found
  const buttons = row.querySelector('.hunk-actions')?.getBoundingClientRect().bottom ?? 0
  const hidden = buttons - free.bottom + CARD_GAP_PX
  if (hidden > 0) body.scrollBy(0, hidden)
}

const CARD_GAP_PX = 8

function isRowSeen(id: string): boolean {
  const found = listedRow(id)
  const words = found?.row.querySelector('.hunk-open')?.getBoundingClientRect()
  return found !== null && words !== undefined && isSeen([words], found.free)
}

/** Height above the bar in which something may be said at any time. */
const NOTES_HEIGHT_PX = 44

/** The part of the page that nothing lies over, and nothing will. */
function freePage(view: EditorView): Span {
  const page = view.dom.closest('.page-scroll')?.getBoundingClientRect()
  const bar = reviewBar()
  const bottom = Math.min(page?.bottom ?? innerHeight, innerHeight)
  if (!bar) return { top: page?.top ?? 0, bottom }
  const said = bar.querySelector('.bar-notes')?.getBoundingClientRect()
  const edge = bar.getBoundingClientRect().top
  const free = Math.min(edge - NOTES_HEIGHT_PX, said && said.height > 0 ? said.top : edge)
  return { top: page?.top ?? 0, bottom: Math.min(bottom, free) }
}

/** Something that is said takes more room than is kept free: the active change moves out of it. */
export function keepClear(view: EditorView, hunk: Hunk): void {
  const bar = reviewBar()?.getBoundingClientRect()
  const said = reviewBar()?.querySelector('.bar-notes')?.getBoundingClientRect()
  const last = linesOf(view, hunk).at(-1)
  if (!bar || !said || !last || said.height <= NOTES_HEIGHT_PX) return
  if (last.bottom > said.top && last.top < bar.top)
    view.dispatch({ effects: EditorView.scrollIntoView(shownAt(hunk), { y: 'center' }) })
}

/** The lines of the screen that the marked words of a change are on; none where it is not drawn. */
function linesOf(view: EditorView, hunk: Hunk): Span[] {
  // Words that move are read where they are put in; where they go may be pages away.
  const marked = isMoved(hunk) ? ':is(.cm-new, .cm-proposed:not(.is-gone))' : ''
  const marks = view.contentDOM.querySelectorAll<HTMLElement>(
    `${marked}[data-hunk="${CSS.escape(hunk.id)}"]`,
  )
  const rects = [...marks].flatMap((mark) => [...mark.getClientRects()])
  const drawn = rects.filter(({ height }) => height > 0)
  if (drawn.length > 0) return drawn.toSorted((a, b) => a.top - b.top)
  // Only line breaks go: nothing marks them.
  const broken = hunk.parts.every(({ base, insert }) => insert === '' && /^\n*$/.test(base))
  const at = broken ? view.coordsAtPos(Math.min(shownAt(hunk), view.state.doc.length)) : null
  return at ? [at] : []
}

/**
 * Returns whether the text is shown with the change in it: as it would be, those in conflict are
 * not.
 */
function showsChanges(view: EditorView, hunk: Hunk): boolean {
  const { shown } = view.state.field(reviewField)
  return shown === 'markup' || (shown === 'proposed' && hunk.status === 'pending')
}

interface Showing {
  /** True if the caret goes along. */
  caret?: boolean
  /** Said before the change is. */
  after?: string
  /** True if the words that go and come have to be seen. */
  marked?: boolean
}

/** Makes a change the active one, brings it into view and says it to screen readers. */
export function activate(
  view: EditorView,
  hunk: Hunk,
  { caret = false, after = '', marked = false }: Showing = {},
): void {
  const { doc } = view.state
  const hunks = hunksOf(view.state)
  const number = hunks.findIndex(({ id }) => id === hunk.id) + 1
  const at = Math.min(shownAt(hunk), doc.length)
  const seen = isInView(view, hunk)
  view.dispatch({
    ...(caret && { selection: { anchor: at } }),
    effects: [
      setActive.of(hunk.id),
      // As proposed it can be seen and decided too.
      ...(marked && !showsChanges(view, hunk) ? [setTextView.of('markup')] : []),
      ...(seen ? [] : [EditorView.scrollIntoView(at, { y: 'center' })]),
      EditorView.announce.of(
        [after, describe(hunk, number, hunks.length)].filter(Boolean).join(' '),
      ),
    ],
  })
  showRow(hunk.id)
}
