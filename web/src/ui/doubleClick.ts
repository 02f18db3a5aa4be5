/**
 * Many people press a button twice where once is meant. The second press of a double click decides
 * nothing, whatever button has come to stand under it; and a key that is held down presses once.
 */
import { PRESS_TOAST, toast } from './toasts.ts'

/** Presses that follow each other so shortly at one place are one. */
const SAME_MS = 300
/** Distance in pixels within which two presses are at one place. */
const SAME_PX = 12

export interface Press {
  at: number
  x: number
  y: number
  /** Number of clicks that the browser takes for one; 0: it came from the keyboard. */
  detail: number
}

/** Returns whether a press is the second half of the one before. Pure. */
export function isRepeated(press: Press, before: Press | null): boolean {
  if (press.detail === 0) return false
  if (press.detail > 1) return true
  if (!before || before.detail === 0) return false
  const near = Math.hypot(press.x - before.x, press.y - before.y) <= SAME_PX
  return near && press.at - before.at < SAME_MS
}

/** Buttons that decide have the attribute. */
const decides = ({ target }: Event): boolean =>
  target instanceof Element && target.closest('[data-decides]') !== null

/** Watches the whole page; `refused` is called for each press that is not passed on. */
export function watchDoubleClicks(page: Document, refused: () => void): void {
  let before: Press | null = null
  const stop = (event: Event) => {
    event.preventDefault()
    event.stopImmediatePropagation()
  }
  const click = (event: MouseEvent) => {
    const { timeStamp: at, clientX: x, clientY: y, detail } = event
    const press = { at, x, y, detail }
    const repeated = isRepeated(press, before)
    before = press
    if (!repeated || !decides(event)) return
    stop(event)
    refused()
  }
  const key = (event: KeyboardEvent) => {
    if (event.repeat && (event.key === 'Enter' || event.key === ' ') && decides(event)) stop(event)
  }
  page.addEventListener('click', click, true)
  page.addEventListener('keydown', key, true)
}

export const noteDoubleClick = (): void =>
  toast('A double click decides once.', { about: PRESS_TOAST })
