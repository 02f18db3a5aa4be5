/** Accept, reject and edit by a key or a button: only a change that the person sees is decided. */
import { EditorView } from '@codemirror/view'
import type { Hunk } from '../../wire/generated.ts'
import { dismissAbout, PRESS_TOAST, toast } from '../../ui/toasts.ts'
import { busyIds } from '../stores/busy.ts'
import { markRead } from '../stores/read.ts'
import { Attention } from '../state/attention.ts'
import { hunkFrom } from '../state/hunk.ts'
import { activate, isInView } from './inView.ts'
import { goOn } from './resolved.ts'
import { activeHunk, hunksOf, resolvedChange, reviewField, setActive } from './reviewField.ts'

const attention = new Attention()
const notePress = (words: string): void => toast(words, { about: PRESS_TOAST })

/** A press shows a change that it was perhaps not meant for. */
let showing = false

export const leftText = (): void => attention.leftText(performance.now())

/** Returns whether the person went to a change, rather than that it is the active one by itself. */
export const wasVisited = (id: string | null): boolean => attention.visited === id

/** A decision about these is taken back here. */
export const expectBack = (ids: readonly string[]): void => attention.expect(ids)

/** Notes that the person has heard that another person decided these. */
export const noteOutcomeHeard = (ids: readonly string[]): void => attention.outcomeHeard(ids[0])

/** Notices which change is the active one, and whether the person went there. */
export const activeChanges = EditorView.updateListener.of(({ startState, state, transactions }) => {
  const now = performance.now()
  if (transactions.some((tr) => tr.isUserEvent('input.type'))) attention.wrote(now)
  const [before, after] = [startState.field(reviewField, false), state.field(reviewField)]
  const went =
    !showing && transactions.some((tr) => tr.effects.some((effect) => effect.is(setActive)))
  if (before) attention.changed(before, after, went, now)
  if (after.active !== null && wasVisited(after.active)) markRead(after.active, after.hunks)
})

/**
 * A key or a button: `act` on the active change, if it is seen; otherwise it is brought into view,
 * and that is all.
 */
export function press(view: EditorView, act: (hunk: Hunk) => void): boolean {
  const hunk = activeHunk(view.state)
  const resolved = resolvedChange(view.state)
  const deciding = busyIds().has(hunk?.id ?? resolved?.hunk.id ?? '')
  const inView = hunk !== undefined && isInView(view, hunk)
  const review = view.state.field(reviewField)
  switch (attention.press(review, { inView, deciding }, performance.now())) {
    case 'decide':
      dismissAbout(PRESS_TOAST)
      act(hunk!)
      break
    case 'show':
      // Where the page moves, that is sign enough.
      if (inView) notePress('Not decided yet: press again.')
      else if (review.shown === 'original') notePress('Shown with its changes: press again.')
      showing = true
      activate(view, hunk!, { marked: true })
      showing = false
      break
    case 'go on':
      goOn(view)
      break
    case 'tell':
      tell(view)
      break
    case 'nothing':
      if (deciding) notePress('Still deciding the last one: press again.')
  }
  return hunk !== undefined || resolved !== null
}

/** That the active change is decided, and by whom. */
function tell(view: EditorView): void {
  const { hunk, outcome } = resolvedChange(view.state)!
  const more = hunksOf(view.state).length > 0 ? ' Press again to go on.' : ''
  const at = Math.min(hunkFrom(hunk), view.state.doc.length)
  view.dispatch({
    effects: [
      EditorView.scrollIntoView(at, { y: 'center' }),
      EditorView.announce.of(`${outcome ?? 'No longer open'}.${more}`),
    ],
  })
}
