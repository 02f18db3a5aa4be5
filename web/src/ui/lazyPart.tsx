/**
 * Parts of the page that are fetched when they are needed, and what is said when they cannot be.
 */
import { type ComponentType, lazy, useEffect } from 'react'
import { toast } from './toasts.ts'

/**
 * `Missing` stands in its place where it cannot be fetched: offline, or after the server was
 * updated.
 */
export function lazyPart<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  Missing: ComponentType = PartMissing,
): ComponentType<Props> {
  return lazy(() =>
    load().then(
      (part) => ({ default: part }),
      () => ({ default: Missing as ComponentType<Props> }),
    ),
  )
}

function PartMissing() {
  useEffect(
    () => toast('This part of the page could not be loaded. Reload the page once you are online.'),
    [],
  )
  return null
}
