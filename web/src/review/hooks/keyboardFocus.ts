/** Moves the keyboard focus when its place in a review goes away. */
import { useLayoutEffect, useRef, useState } from 'react'
import { openDocument } from '../../document/openDocument.ts'
import { reviewBar } from '../text/inView.ts'

/**
 * Set while keys are used: a person who taps is not led into the text, as a phone's keyboard would
 * come up.
 */
let byKey = false
window.addEventListener('keydown', () => (byKey = true), { capture: true, passive: true })
window.addEventListener('pointerdown', () => (byKey = false), { capture: true, passive: true })

/**
 * Once what goes now is gone: to where one came from, or where the review goes on. Who is somewhere
 * else by then stays there.
 */
function giveBack(from: Element | null): void {
  queueMicrotask(() => {
    for (const place of [from, reviewBar(), byKey ? openDocument()?.view.contentDOM : null]) {
      if (document.activeElement !== document.body) return
      enter(place)
    }
  })
}

function enter(place: Element | null | undefined): void {
  const view = openDocument()?.view
  // The editor puts its own caret back.
  if (view && place === view.contentDOM) view.focus()
  else if (place instanceof HTMLElement) place.focus({ preventScroll: true })
}

/**
 * For fields that are opened to write in: a person who leaves one is given back the place they came
 * from. Where it is taken away from under a person who writes, the focus goes nowhere: their next
 * letters would be taken for decisions.
 */
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
