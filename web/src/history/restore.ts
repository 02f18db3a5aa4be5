/** Restores a version of a document. */
import type { Step } from './steps.ts'
import { moment } from './wording.ts'
import { toast } from '../ui/toasts.ts'
import { wire } from '../session/store.ts'
import { CallError } from '../wire/socket.ts'

/** The time at which a step ended. */
export const timeOf = ({ at }: Step): string =>
  at === undefined ? 'First version' : moment(at, Date.now())

/** One update, which is taken back as long as no other update followed. */
export async function restore(documentId: string, step: Step): Promise<boolean> {
  const version = await restoreVersion({ documentId, version: step.to })
  if (version === null) return false
  const what = step.at === undefined ? 'original text' : `version of ${timeOf(step)}`
  const undo = { documentId, version: version - 1, onlyAt: version }
  toast(`Restored the ${what}`, {
    about: 'restored',
    action: { label: 'Undo', run: () => void restoreVersion(undo) },
  })
  return true
}

/** Returns the version that was made, or `null` if it was refused; a toast says why. */
async function restoreVersion(
  payload: Parameters<typeof wire.call<'document:restore'>>[1],
): Promise<number | null> {
  try {
    return (await wire.call('document:restore', payload)).version
  } catch (error) {
    if (!(error instanceof CallError)) throw error
    toast(
      error.code === 'resync'
        ? 'Somebody has written since; the history has every version.'
        : error.message,
      { about: 'restored' },
    )
    return null
  }
}
