/**
 * The ways back at the desk: a file is put back as it was, and what was not done is proposed again
 * on today’s files.
 */
import { explain } from '../../review/actions/explain.ts'
import { wire } from '../../session/store.ts'
import { toast } from '../../ui/toasts.ts'
import { CallError } from '../../wire/socket.ts'
import type { ToolApprovalRequest } from '../../wire/generated.ts'
import { goTo } from './bin.ts'
import { once } from './decide.ts'
import { changedAt, type FileNow } from './store.ts'
import { scopeOf } from './wording.ts'

/** Takes back what a call has done to a file; one that was changed since is shown first. */
export async function undoFileAction(request: ToolApprovalRequest, force = false): Promise<void> {
  const id = request.request_id
  await once(id, async () => {
    try {
      await wire.call('approval:undo', { request_id: id, ...(force && { force }) })
      changedAt(id, null)
      toast(`Undone: ${scopeOf(request)}.`, { about: `undo ${id}` })
      goTo(id)
    } catch (error) {
      const now =
        error instanceof CallError && error.code === 'conflicted'
          ? fileNow(error.details)
          : undefined
      changedAt(id, now ?? null)
      if (!now) explain(error)
    }
  })
}

/** Has a call made again, as a request of our own; the attention goes to its card. */
export async function proposeAgain(request: ToolApprovalRequest): Promise<void> {
  await once(request.request_id, async () => {
    try {
      const again = await wire.call('approval:reopen', { request_id: request.request_id })
      if (again.request_id !== undefined) goTo(again.request_id)
      toast(`Proposed again: ${scopeOf(request)}.`)
    } catch (error) {
      explain(error)
    }
  })
}

/** The file as it stands there, where a refusal tells. */
function fileNow(details: unknown): FileNow | undefined {
  const told = (details ?? {}) as Partial<FileNow>
  return typeof told.file_path === 'string'
    ? {
        file_path: told.file_path,
        exists: told.exists ?? true,
        diff_lines: told.diff_lines ?? [],
        document_id: told.document_id ?? null,
      }
    : undefined
}
