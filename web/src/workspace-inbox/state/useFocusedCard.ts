/** Follows the card of the open desk at which the person is. */
import { type RefObject, useEffect, useRef, useState } from 'react'
import { followFocus, type FocusSignal, stay } from './focusedCard.ts'

/** A pointer that only passes over a card does not read it. */
const REST_MS = 350

export const cardOf = (target: EventTarget | null): string | null =>
  target instanceof Element
    ? (target.closest<HTMLElement>('[data-request]')?.dataset.request ?? null)
    : null
export const isField = (target: EventTarget | null): boolean =>
  target instanceof Element && target.matches('input, textarea, select')

export function useFocusedCard(
  desk: RefObject<HTMLElement | null>,
  waiting: readonly string[],
): string | null {
  const [at, setAt] = useState<string | null>(null)
  const before = useRef(waiting)
  const now = stay(at, before.current, waiting)
  const latest = useRef(waiting)
  useEffect(() => {
    latest.current = waiting
    before.current = waiting
    if (now !== at) setAt(now)
  }, [waiting, now, at])
  useEffect(() => {
    const box = desk.current
    if (!box) return
    const scrolls = box.closest('dialog') ?? box
    const notice = (sign: FocusSignal) =>
      setAt((was) =>
        followFocus(
          was,
          sign,
          latest.current,
          isField(document.activeElement) ? cardOf(document.activeElement) : null,
        ),
      )
    let rest: ReturnType<typeof setTimeout> | undefined
    const pointed = (event: PointerEvent) => {
      clearTimeout(rest)
      const card = cardOf(event.target)
      // A card under a pointer that does not move was not pointed at.
      if (card !== null && (event.movementX !== 0 || event.movementY !== 0))
        rest = setTimeout(() => notice({ by: 'pointer', card }), REST_MS)
    }
    const pressed = (event: Event) => {
      const card = cardOf(event.target)
      if (card !== null) notice({ by: 'focus', card })
    }
    const scrolled = () => notice({ by: 'scroll', inView: inView(box, scrolls) })
    const listening = new AbortController()
    const { signal } = listening
    box.addEventListener('focusin', pressed, { signal })
    box.addEventListener('pointerdown', pressed, { signal })
    box.addEventListener('pointermove', pointed, { signal })
    scrolls.addEventListener('scroll', scrolled, { passive: true, signal })
    return () => {
      clearTimeout(rest)
      listening.abort()
    }
  }, [desk])
  return now
}

function inView(box: HTMLElement, scrolls: Element): string[] {
  const frame = scrolls.getBoundingClientRect()
  const seen = [...box.querySelectorAll<HTMLElement>('[data-request]')].filter((card) => {
    const { top, bottom } = card.getBoundingClientRect()
    return top < frame.bottom - 40 && bottom > frame.top + 40
  })
  return seen.map((card) => card.dataset.request!)
}
