/**
 * Parts of the page that are fetched when they are needed, and what is said when they cannot be.
 */
import { type ComponentType, lazy, type ReactNode, Suspense, useEffect } from 'react'
import { toast } from './toasts.ts'

interface Instead {
  /** Stands in its place while it is fetched. */
  fallback?: ReactNode
  /** Stands in its place where it cannot be fetched: offline, or after the server was updated. */
  Missing?: ComponentType
}

export function lazyPart<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  { fallback = null, Missing = PartMissing }: Instead = {},
): ComponentType<Props> {
  const Part: ComponentType<Props> = lazy(() =>
    load().then(
      (part) => ({ default: part }),
      () => ({ default: Missing as ComponentType<Props> }),
    ),
  )
  return (props) => (
    <Suspense fallback={fallback}>
      <Part {...props} />
    </Suspense>
  )
}

function PartMissing() {
  useEffect(
    () => toast('This part of the page could not be loaded. Reload the page once you are online.'),
    [],
  )
  return null
}
