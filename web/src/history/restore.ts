/** Restores a version of a document. */
import type { Step } from './steps.ts'
import { moment } from './wording.ts'
import { toast } from '../ui/toasts.ts'
import { attempt } from '../session/attempt.ts'
import { wire } from '../session/store.ts'

/** The time at which a step ended. */
export const timeOf = ({ at }: Step): string =>
  at === undefined ? 'First version' : moment(at, Date.now())

/** One update, which is taken back as long as no other update followed. */
export async function restore(documentId: string, step: Step): Promise<boolean> {
  const version = await restoreVersion({ documentId, version: step.to })
  if (version === undefined) return false
  const what = step.at === undefined ? 'original text' : `version of ${timeOf(step)}`
  const undo = { documentId, version: version - 1, onlyAt: version }
  toast(`Restored the ${what}`, {
    about: 'restored',
    action: { label: 'Undo', run: () => void restoreVersion(undo) },
  })
  return true
}

/** Returns the version that was made; if it is refused, a toast says why. */
async function restoreVersion(
  payload: Parameters<typeof wire.call<'document:restore'>>[1],
): Promise<number | undefined> {
  const made = await attempt(wire.call('document:restore', payload), ({ code, message }) =>
    toast(
      code === 'resync' ? 'Somebody has written since; the history has every version.' : message,
      { about: 'restored' },
    ),
  )
  return made?.version
}
