/** Changes and requests whose decision is on its way, so that nothing is sent twice. */
import { create } from 'zustand'

export const useBusy = create<{ ids: ReadonlySet<string> }>()(() => ({ ids: new Set() }))

export const busyIds = (): ReadonlySet<string> => useBusy.getState().ids

/** `false`: some of it is on its way already. */
export function markBusy(keys: readonly string[]): boolean {
  const { ids } = useBusy.getState()
  if (keys.some((id) => ids.has(id))) return false
  useBusy.setState({ ids: new Set([...ids, ...keys]) })
  return true
}

export function clearBusy(keys: readonly string[]): void {
  useBusy.setState(({ ids }) => ({ ids: new Set([...ids].filter((id) => !keys.includes(id))) }))
}
