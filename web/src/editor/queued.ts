/** What the server tells of a document while the answer to `document:open` is on its way: it waits for that. */
import type { ApprovalRequest, ApprovalResolved, ApprovalUpdate, DocumentUpdates } from '../wire/types.ts'

export type Queued = { updates: DocumentUpdates } | { request: ApprovalRequest } | { update: ApprovalUpdate } | { done: ApprovalResolved }

/** A request told before the answer is in the answer, at a newer version, if it can still be decided; so is what is being written. */
export function isOlder(message: Queued, version: number): boolean {
  return 'request' in message ? message.request.version < version : 'update' in message && message.update.status === 'streaming'
}
