/**
 * Handles the active change once it is decided: after one's own decision the review goes on, after
 * that of another it stays and says so.
 */
import { EditorView } from '@codemirror/view'
import { busyIds } from '../stores/busy.ts'
import { usePanel } from '../stores/panel.ts'
import { isWaiting } from '../state/requests.ts'
import { describeHunkOutcome, outcomeSummary } from '../state/outcomeSummary.ts'
import type { Hunk } from '../../wire/generated.ts'
import { activate, isInReviewBar } from './inView.ts'
import { hunksOf, resolvedChange, reviewField, setActive, setOutcome } from './reviewField.ts'
import { useRequests } from '../stores/requests.ts'
import { hasVoted } from '../stores/votes.ts'
import { following } from '../state/changes.ts'
import { arranged, comparing } from '../state/marks.ts'

/** To the change after one that is gone; where there is none, the review is over. */
export function goOn(view: EditorView, after = ''): void {
  const resolved = resolvedChange(view.state)
  if (!resolved) return
  const { list } = usePanel.getState()
  const next = following(arranged(hunksOf(view.state), list), resolved.hunk, comparing(list))
  if (next) return activate(view, next, { after })
  usePanel.setState({ finished: isInReviewBar() })
  view.dispatch({
    effects: [
      setActive.of(null),
      EditorView.announce.of([after, 'All changes are reviewed.'].filter(Boolean).join(' ')),
    ],
  })
}

/** These changes were decided here: who looked at one of them goes on. */
export function decidedHere(view: EditorView, ids: readonly string[], after: string): void {
  const resolved = resolvedChange(view.state)
  if (resolved && ids.includes(resolved.hunk.id)) goOn(view, after)
}

/**
 * The active change was approved here and waits for others: on to the next that we have not
 * approved.
 */
export function leaveApproved(view: EditorView, ids: readonly string[], after: string): void {
  const { hunks: all, active } = view.state.field(reviewField)
  const hunks = arranged(all, usePanel.getState().list)
  const say = () => view.dispatch({ effects: EditorView.announce.of(after) })
  if (active === null || !ids.includes(active)) return say()
  const at = hunks.findIndex((hunk) => hunk.id === active)
  const next = [...hunks.slice(at + 1), ...hunks.slice(0, at)].find((hunk) => !hasVoted(hunk))
  if (next) activate(view, next, { after })
  else say()
}

/** Once it is known what became of the active change. */
export function followResolved(view: EditorView): void {
  const resolved = resolvedChange(view.state)
  if (!resolved || busyIds().has(resolved.hunk.id)) return
  const outcome = outcomeOf(resolved.hunk)
  if (outcome === '' || outcome === resolved.outcome) return
  view.dispatch({ effects: [setOutcome.of(outcome), EditorView.announce.of(`${outcome}.`)] })
}

function outcomeOf({ id, request_id }: Hunk): string {
  const request = useRequests.getState().requests[request_id]
  const known = request?.hunks.find((hunk) => hunk.id === id)
  const outcome = known ? describeHunkOutcome(known) : ''
  return outcome === '' && request && !isWaiting(request) ? outcomeSummary(request) : outcome
}
