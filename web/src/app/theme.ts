/** Light or dark: the system's choice until the person makes one. */
import { useSyncExternalStore } from 'react'
import { keep } from '../session/browserStorage.ts'

type Theme = 'light' | 'dark'
const system = window.matchMedia('(prefers-color-scheme: dark)')
const listeners = new Set<() => void>()

function theme(): Theme {
  const chosen = document.documentElement.dataset.theme
  return chosen === 'light' || chosen === 'dark' ? chosen : system.matches ? 'dark' : 'light'
}

export function useTheme(): [Theme, () => void] {
  const now = useSyncExternalStore((changed) => {
    listeners.add(changed)
    system.addEventListener('change', changed)
    return () => {
      listeners.delete(changed)
      system.removeEventListener('change', changed)
    }
  }, theme)
  return [now, toggle]
}

function toggle(): void {
  const next: Theme = theme() === 'dark' ? 'light' : 'dark'
  document.documentElement.dataset.theme = next
  keep('copydesk:theme', next)
  listeners.forEach((changed) => changed())
}
