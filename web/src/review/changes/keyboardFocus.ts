/** Where the keyboard is in a review, and where it goes when that place is gone. */
import { EditorView } from '@codemirror/view'
import { useLayoutEffect, useRef, useState } from 'react'
import { getCurrent } from '../../editor/sync/currentDocument.ts'
import { actionOf } from './keyActions.ts'

/** So long after the bar has gone, its letters are still meant for it. */
const STRAY_MS = 600

/** When the text was given what the bar had; nothing once somebody writes. */
let handedOver: number | null = null

/** Who taps is not led into the text: a phone's keyboard would come up. */
let byKey = false
window.addEventListener('keydown', () => (byKey = true), { capture: true, passive: true })
window.addEventListener('pointerdown', () => (byKey = false), { capture: true, passive: true })

export const reviewBar = (): HTMLElement | null =>
  document.querySelector<HTMLElement>('[data-review-bar]')

/** Once what goes now is gone: to where one came from, or where the review goes on. Who is somewhere else by then stays there. */
function giveBack(from: Element | null): void {
  queueMicrotask(() => {
    for (const place of [from, reviewBar(), byKey ? getCurrent()?.view.contentDOM : null]) {
      if (document.activeElement !== document.body) return
      enter(place)
    }
  })
}

function enter(place: Element | null | undefined): void {
  const view = getCurrent()?.view
  // The editor puts its own caret back.
  if (view && place === view.contentDOM) view.focus()
  else if (place instanceof HTMLElement) place.focus({ preventScroll: true })
}

/** For what is opened to write in: who leaves it is given back the place they came from. Where it is taken away from under somebody who
 * writes, nothing is: their next letters would be taken for decisions. */
export function useReturnFocus(): { leave: () => void; stay: () => void } {
  const [from] = useState(() => document.activeElement)
  const leaving = useRef(false)
  // Not later: by the next frame a letter would have gone nowhere.
  useLayoutEffect(
    () => () => {
      if (leaving.current) giveBack(from)
    },
    [from],
  )
  return { leave: () => (leaving.current = true), stay: () => (leaving.current = false) }
}

/** The bar goes with the last change, and who works it by keyboard comes to the text. */
export function useFocusTextAfterwards(): React.RefObject<HTMLDivElement | null> {
  const bar = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    const shown = bar.current
    return () => {
      if (!byKey || !shown?.contains(document.activeElement)) return
      handedOver = performance.now()
      giveBack(null)
    }
  }, [])
  return bar
}

/** A letter too many for the bar, or one that is still held down, is not written into the text. */
export const strayLetters = EditorView.domEventHandlers({
  keydown(event) {
    if (handedOver === null || event.key.length > 1 || !actionOf(event, true)) return false
    const stray = event.repeat || event.timeStamp - handedOver < STRAY_MS
    if (!stray) handedOver = null
    return stray
  },
})
