/** The name of the tab and its icon: they say how many changes wait. */
import { useEffect } from 'react'

export const tabTitle = (name: string, waiting: number): string => {
  const whole = name === '' ? 'Copydesk' : `${name} · Copydesk`
  return waiting > 0 ? `(${waiting}) ${whole}` : whole
}

/** `name` is empty for a page that is not about one document. */
export function useTabTitle(name: string, waiting: number): void {
  useEffect(() => {
    document.title = tabTitle(name, waiting)
    const icon = document.querySelector<HTMLLinkElement>('link[rel=icon]')
    const wanted = waiting > 0 ? '/favicon-waiting.svg' : '/favicon.svg'
    if (icon && icon.getAttribute('href') !== wanted) icon.setAttribute('href', wanted)
  }, [name, waiting])
}
