/** Places: the list of documents at `/`, one document at `/d/ID`, the owner's page at `/server`. */
import { useSyncExternalStore } from 'react'

export type Route =
  { at: 'library' } | { at: 'document'; id: string } | { at: 'server' } | { at: 'nowhere' }

export const SERVER_PATH = '/server'

export function routeOf(path: string): Route {
  if (path === '/') return { at: 'library' }
  if (path === SERVER_PATH) return { at: 'server' }
  const id = /^\/d\/([^/]+)\/?$/.exec(path)?.[1]
  return id ? { at: 'document', id: decodeURIComponent(id) } : { at: 'nowhere' }
}

export const documentPath = (id: string): string => `/d/${encodeURIComponent(id)}`

const listeners = new Set<() => void>()
window.addEventListener('popstate', () => listeners.forEach((changed) => changed()))

export function navigate(path: string): void {
  window.history.pushState(null, '', path)
  listeners.forEach((changed) => changed())
}

/** For links: follows plain clicks without loading the page anew. */
export function follow(
  event: { preventDefault(): void; metaKey: boolean; ctrlKey: boolean; shiftKey: boolean },
  path: string,
): void {
  if (event.metaKey || event.ctrlKey || event.shiftKey) return
  event.preventDefault()
  navigate(path)
}

export function useRoute(): Route {
  const path = useSyncExternalStore(
    (changed) => {
      listeners.add(changed)
      return () => listeners.delete(changed)
    },
    () => window.location.pathname,
  )
  return routeOf(path)
}
