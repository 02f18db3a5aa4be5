/**
 * Review by keyboard: chords work in the text; Esc leaves it for the bar, where single letters
 * work.
 */
import { EditorView, type KeyBinding } from '@codemirror/view'
import { type ConversationRun, useChat } from '../../chat/store.ts'
import { useOpenDocument } from '../../document/useOpenDocument.ts'
import { openDocument } from '../../document/openDocument.ts'
import type { Hunk } from '../../wire/generated.ts'
import { acceptHunk, rejectHunk, splitHunk } from './decide.ts'
import { keptEdits } from '../stores/drafts.ts'
import { undoLastAct } from './undo.ts'
import { NOTHING_TO_REVIEW_TOAST } from '../text/announcements.ts'
import { hunkTo } from '../state/hunk.ts'
import { activate, reviewBar, showCard } from '../text/inView.ts'
import { leftText, press, wasVisited } from '../text/pressing.ts'
import { goOn } from '../text/resolved.ts'
import {
  activeHunk,
  hunksOf,
  resolvedChange,
  reviewField,
  streamingOf,
} from '../text/reviewField.ts'
import { usePanel } from '../stores/panel.ts'
import { reasonCannotDecide } from '../state/permissions.ts'
import { useSession } from '../../session/store.ts'
import { toast } from '../../ui/toasts.ts'
import { canDecide, canWrite } from '../../session/roles.ts'
import { useReview } from '../stores/requests.ts'
import { hasVoted } from '../stores/votes.ts'
import { fromCaret, neighbour } from '../state/changes.ts'

export function go(view: EditorView, step: 1 | -1): boolean {
  const { hunks, active, resolved } = view.state.field(reviewField)
  const found = neighbour(hunks, active, step, resolved?.hunk)
  if (found) activate(view, found, { caret: true })
  else if (resolved) goOn(view)
  else sayNothingToReview(view)
  return found !== undefined || resolved !== null
}

/**
 * Goes from the caret, as long as the person did not go to the active change; after that, from the
 * active change.
 */
function goFromText(view: EditorView, step: 1 | -1): true {
  const { hunks, active } = view.state.field(reviewField)
  const at = view.state.selection.main.head
  const found = wasVisited(active) ? undefined : fromCaret(hunks, at, step)
  if (found) activate(view, found, { caret: true })
  else go(view, step)
  return true
}

const isRunning = ({ status }: ConversationRun): boolean => status === 'running'

/** There is nothing to go to; what the AI is writing is shown where it stands. */
function sayNothingToReview(view: EditorView): void {
  const latest = streamingOf(view.state).at(-1)
  const writing = latest !== undefined || useChat.getState().runs.some(isRunning)
  const said = writing ? 'The AI is still writing. Wait for it to finish.' : 'Nothing to review.'
  toast(said, { about: NOTHING_TO_REVIEW_TOAST })
  if (latest)
    view.dispatch({
      effects: EditorView.scrollIntoView(Math.min(hunkTo(latest), view.state.doc.length), {
        y: 'center',
      }),
    })
}

/** From anywhere on the page to the active change; from there `F8` goes on to the next. */
export function enter(view: EditorView): boolean {
  const hunk = activeHunk(view.state)
  if (!hunk) return go(view, 1)
  activate(view, hunk, { caret: true })
  return true
}

/** Acts on the active change for a key or a button in the bar, once the change is seen. */
export function acceptActive(view: EditorView): boolean {
  const hunk = activeHunk(view.state)
  if (hunk?.status !== 'conflict')
    return press(view, (seen) =>
      hasVoted(seen) && keptEdits()[seen.id] === undefined ? void go(view, 1) : accept(seen),
    )
  // Nothing is decided by it, so it need not be seen before.
  accept(hunk)
  return true
}
export const rejectActive = (view: EditorView): boolean =>
  press(view, (hunk) => void rejectHunk(hunk))
export const editActive = (view: EditorView): boolean => press(view, edit)
export const splitActive = (view: EditorView): boolean =>
  press(view, (hunk) => void splitHunk(hunk))

/**
 * A conflict is never accepted by a stray key: it is shown, in the text and on its card, and the
 * choice made there.
 */
export function accept(hunk: Hunk): void {
  if (hunk.status !== 'conflict') return void acceptHunk(hunk)
  usePanel.setState({ open: true, editing: null })
  const view = openDocument()?.view
  if (view) activate(view, hunk)
  // Once the panel has been drawn with the card open, and has scrolled to it.
  requestAnimationFrame(() => requestAnimationFrame(() => showCard(hunk.id)))
}

/** A person who may not write sees it in the list, and decides it there as it is. */
export function edit(hunk: Hunk): void {
  const writes = canWrite(useOpenDocument.getState().role)
  // In the text, which nothing may lie over.
  usePanel.setState({ open: !writes, editing: writes ? hunk.id : null, reasoning: null })
}

function leaveText(view: EditorView): boolean {
  const bar = reviewBar()
  if (!bar || (hunksOf(view.state).length === 0 && !resolvedChange(view.state))) return false
  leftText()
  bar.focus()
  return true
}

/** Subject of the toast that says why a person may not decide. */
const MAY_NOT_DECIDE_TOAST = 'no say'

/** Returns why the person may not decide the active change, in words; `null`: they may. */
function reasonNotToDecide(view: EditorView): string | null {
  const { role } = useOpenDocument.getState()
  if (!canDecide(role)) return 'Viewers can’t accept or reject.'
  const hunk = activeHunk(view.state)
  const request = hunk && useReview.getState().requests[hunk.request_id]
  const id = useSession.getState().me?.user.id
  return request ? reasonCannotDecide(request, { id, role }) : null
}

/** One press too many, or one before the changes are there, must not write a line into the text. */
const decidesOnly =
  (decide: (view: EditorView) => boolean) =>
  (view: EditorView): boolean => {
    const refused = reasonNotToDecide(view)
    if (refused !== null) toast(refused, { about: MAY_NOT_DECIDE_TOAST })
    else if (!decide(view)) view.dispatch({ effects: EditorView.announce.of('Nothing to review.') })
    return true
  }

export const reviewKeys: readonly KeyBinding[] = [
  { key: 'F8', run: (view) => goFromText(view, 1), shift: (view) => goFromText(view, -1) },
  { key: 'Mod-Enter', run: decidesOnly(acceptActive) },
  { key: 'Shift-Mod-Enter', run: decidesOnly(rejectActive) },
  { key: 'Alt-Enter', run: decidesOnly(editActive) },
  { key: 'Escape', run: leaveText },
  { key: 'Mod-z', run: undoLastAct },
]

/** A chord that is held down decides once. */
export const heldChords = EditorView.domEventHandlers({
  keydown: ({ repeat, key, ctrlKey, metaKey, altKey }) =>
    repeat && key === 'Enter' && (ctrlKey || metaKey || altKey),
})
