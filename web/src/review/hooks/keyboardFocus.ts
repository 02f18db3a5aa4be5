/** Where the keyboard is in a review, and where it goes when that place is gone. */
import { useLayoutEffect, useRef, useState } from 'react'
import { openDocument } from '../../document/openDocument.ts'
import { reviewBar } from '../text/inView.ts'

/** Who taps is not led into the text: a phone's keyboard would come up. */
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
 * For what is opened to write in: who leaves it is given back the place they came from. Where it is
 * taken away from under somebody who writes, nothing is: their next letters would be taken for
 * decisions.
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
