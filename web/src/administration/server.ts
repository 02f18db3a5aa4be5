/** Looking after the server: what owners ask of it. */
import { CallError } from '../wire/socket.ts'
import { wire } from '../session/store.ts'
import { toast } from '../ui/toasts.ts'
import type {
  MonthSpending,
  PersonDeletion,
  PersonPreview,
  SetSpendingLimit,
  StoredSizes,
  WorkInProgress,
} from '../wire/generated.ts'

/** Awaits a call; a refusal is said, and gives nothing. */
export async function attempt<T>(call: () => Promise<T>): Promise<T | undefined> {
  try {
    return await call()
  } catch (error) {
    if (!(error instanceof CallError)) throw error
    toast(error.message)
    return undefined
  }
}

export const readSpending = (): Promise<MonthSpending> => wire.call('spending:get', {})
export const setLimit = (wish: SetSpendingLimit): Promise<MonthSpending> =>
  wire.call('spending:limit', wish)
export const readWork = (): Promise<WorkInProgress> => wire.call('server:work', {})
export const stopRun = (sessionId: string, requestId: string): Promise<object> =>
  wire.call('server:stop', { sessionId, requestId })
export const readStorage = (): Promise<StoredSizes> => wire.call('server:storage', {})
export const previewPerson = (id: string): Promise<PersonPreview> =>
  wire.call('person:preview', { id })
export const deletePerson = (id: string, withDocuments: boolean): Promise<PersonDeletion> =>
  wire.call('person:delete', { id, privateDocuments: withDocuments ? 'delete' : 'keep' })
