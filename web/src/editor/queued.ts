/** What the server said while the answer to opening was awaited. */
import type { ApprovalRequest, ApprovalResolved, ApprovalUpdate, DocumentSettings, DocumentUpdates } from '../wire/types.ts'

export type Queued =
  | { updates: DocumentUpdates }
  | { settings: DocumentSettings; version: number }
  | { request: ApprovalRequest }
  | { update: ApprovalUpdate }
  | { done: ApprovalResolved }

/** What the answer holds already, at a newer version. */
export function isOld(message: Queued, version: number): boolean {
  if ('request' in message) return message.request.version < version
  if ('update' in message) return message.update.status === 'streaming'
  return 'settings' in message && message.version < version
}
