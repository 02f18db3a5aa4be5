/** Actions about the active change: what keys, the review bar and the cards do with it. */
import { EditorView } from '@codemirror/view'
import { type ConversationRun, useChat } from '../../chat/store.ts'
import { useOpenDocument } from '../../document/useOpenDocument.ts'
import { openDocument } from '../../document/openDocument.ts'
import type { Hunk } from '../../wire/generated.ts'
import { acceptHunk, rejectHunk, splitHunk } from './decide.ts'
import { deferHunk } from './defer.ts'
import { keptEdits } from '../stores/drafts.ts'
import { NOTHING_TO_REVIEW_TOAST } from '../text/announcements.ts'
import { hunkTo } from '../state/hunk.ts'
import { activate, showCard } from '../text/inView.ts'
import { press } from '../text/pressing.ts'
import { goOn } from '../text/resolved.ts'
import { activeHunk, hunksOf, reviewField, streamingOf } from '../text/reviewField.ts'
import { usePanel } from '../stores/panel.ts'
import { toast } from '../../ui/toasts.ts'
import { canWrite } from '../../session/roles.ts'
import { hasVoted } from '../stores/votes.ts'
import { neighbour } from '../state/changes.ts'
import { arranged, comparing, type Arrangement } from '../state/marks.ts'

export function go(view: EditorView, step: 1 | -1): boolean {
  const { hunks, active, resolved } = view.state.field(reviewField)
  const { list } = usePanel.getState()
  const left = resolved?.hunk ?? activeHunk(view.state)
  const found = neighbour(arranged(hunks, list), active, step, left, comparing(list))
  if (found) activate(view, found, { caret: true })
  else if (resolved) goOn(view)
  else sayNothingToReview(view)
  return found !== undefined || resolved !== null
}

/** To the next change that the person has not gone to yet, around the end of the list. */
export function goUnread(view: EditorView): true {
  const { list, read } = usePanel.getState()
  const shown = arranged(hunksOf(view.state), list)
  const at = Math.max(
    shown.findIndex(({ id }) => id === activeHunk(view.state)?.id),
    0,
  )
  const found = [...shown.slice(at), ...shown.slice(0, at)].find(({ id }) => !read.has(id))
  if (found) activate(view, found, { caret: true })
  else toast('You have looked at every change.', { about: NOTHING_TO_REVIEW_TOAST })
  return true
}

/** Chooses what the list shows; keys go through that, from the first of it on. */
export function arrangeList(more: Partial<Arrangement>): void {
  usePanel.setState((panel) => ({ list: { ...panel.list, ...more } }))
  const view = openDocument()?.view
  if (!view) return
  const shown = arranged(hunksOf(view.state), usePanel.getState().list)
  const [first] = shown
  if (first && !shown.some(({ id }) => id === activeHunk(view.state)?.id)) activate(view, first)
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
/** Nothing is decided by it, so it need not be seen before. */
export function deferActive(view: EditorView): void {
  const hunk = activeHunk(view.state)
  if (hunk) void deferHunk(hunk)
}

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
