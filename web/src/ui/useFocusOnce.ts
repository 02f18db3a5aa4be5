/** Puts the keyboard into what has just appeared: the browser's own `autofocus` is for the loading of a page. */
import { type RefObject, useEffect, useRef } from 'react'

export function useFocusOnce<T extends HTMLElement>(wanted = true): RefObject<T | null> {
  const element = useRef<T>(null)
  useEffect(() => {
    if (wanted) element.current?.focus()
  }, [wanted])
  return element
}
