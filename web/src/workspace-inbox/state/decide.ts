/** Decisions about requests that belong to no document. */
import { explain } from '../../review/actions/explain.ts'
import { votedWords } from '../../review/state/permissions.ts'
import { rememberAct } from '../../review/actions/undo.ts'
import { clearBusy, markBusy } from '../../review/stores/busy.ts'
import { wire } from '../../session/store.ts'
import { readRules } from './rules.ts'
import { useInbox } from './store.ts'
import type { ToolApprovalRequest, ToolApprovalResponse } from '../../wire/generated.ts'

/** Sends a decision about what is on the screen; whether it was taken. */
export async function decideRequest(
  request: ToolApprovalRequest,
  response: Omit<ToolApprovalResponse, 'request_id'>,
): Promise<boolean> {
  const id = request.request_id
  let taken = false
  await once(id, async () => {
    try {
      const { status, approvals } = await wire.call('tool_approval_response', {
        ...response,
        request_id: id,
        preview_hash: request.preview_hash,
      })
      taken = true
      if (response.remember) void readRules()
      if (status === 'approved') useInbox.setState({ approved: id })
      if (status === 'pending') rememberAct(id, { whole: true }, votedWords(approvals))
    } catch (error) {
      explain(error)
    }
  })
  return taken
}

/** One thing at a time about a request: nothing is sent twice. */
export async function once(id: string, act: () => Promise<void>): Promise<void> {
  if (!markBusy([id])) return
  try {
    await act()
  } finally {
    clearBusy([id])
  }
}
