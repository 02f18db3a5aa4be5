/**
 * Puts the keyboard into what has just appeared: the browser's own `autofocus` is for the loading
 * of a page.
 */
import { type RefObject, useLayoutEffect, useRef } from 'react'

export function useFocusOnce<T extends HTMLElement>(wanted = true): RefObject<T | null> {
  const element = useRef<T>(null)
  // With the very frame it appears in: the next letter is meant for it.
  useLayoutEffect(() => {
    if (wanted) element.current?.focus()
  }, [wanted])
  return element
}
