/** Updates of a text since an older version, from the answer to `document:resync`. Pure. */
import type { Opened } from '../wire/generated.ts'
import type { LaterUpdate } from './unsent/unsentEdit.ts'
import { type ConfirmedDocument, isOutOfStep, parseChanges } from './confirmedDocument.ts'

/** Up to the version of our copy; `null`: that is not known any more. */
export function laterUpdates(
  { from, updates }: Pick<Opened, 'from' | 'updates'>,
  version: number,
  confirmed: ConfirmedDocument,
): readonly LaterUpdate[] | null {
  if (!updates || from !== version) return null
  // The answer may be ahead of our copy, or behind it.
  const known = updates.slice(0, Math.max(0, confirmed.version - version))
  const newer = confirmed.since(version + known.length)
  if (!newer) return null
  try {
    return [...parsed(known), ...newer.map((changes) => ({ clientID: null, changes }))]
  } catch (error) {
    if (isOutOfStep(error)) return null
    throw error
  }
}

function parsed(updates: NonNullable<Opened['updates']>): LaterUpdate[] {
  let length: number | undefined
  return updates.map(({ clientID, changes: json }) => {
    const changes = parseChanges(json, length)
    length = changes.newLength
    return { clientID, changes }
  })
}
