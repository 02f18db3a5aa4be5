/** What an undo would overwrite, until the person has looked at it. */
import { create } from 'zustand'

/** An accepted change whose words were changed since. */
export interface Touched {
  id: string
  stands: string
  restores: string
}

export interface Overwrite {
  request_id: string
  hunks?: readonly string[]
  touched: readonly Touched[]
}

export const useOverwrite = create<{ asked: Overwrite | null }>()(() => ({ asked: null }))

/** The changes that a refused undo names, with both texts of each. */
export function touchedSince(details: unknown): Touched[] {
  if (
    typeof details !== 'object' ||
    details === null ||
    !('touched' in details) ||
    !Array.isArray(details.touched)
  )
    return []
  return details.touched as Touched[]
}
