/** Light or dark: the system's choice until the person makes one. */
import { useSyncExternalStore } from 'react'

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
  try {
    localStorage.setItem('copydesk:theme', next)
  } catch {
    // Storage may be switched off: the choice lasts as long as the tab.
  }
  listeners.forEach((changed) => changed())
}
