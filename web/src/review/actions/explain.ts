/** Calls that are sent once, and the reasons of refusals in our words. */
import { useOpenDocument } from '../../document/useOpenDocument.ts'
import { openDocument } from '../../document/openDocument.ts'
import { toast } from '../../ui/toasts.ts'
import { clearBusy, markBusy } from '../stores/busy.ts'
import { CallError } from '../../wire/socket.ts'
import { freshRequest, wordsFor } from '../state/decisionErrors.ts'
import { applyRequest } from '../state/requests.ts'
import { useRequests } from '../stores/requests.ts'

/**
 * Sends a call, unless another one about the same is on its way. Returns its answer; nothing where
 * it was refused, which is explained.
 */
export async function once<Answer>(
  ids: readonly string[],
  call: () => Promise<Answer>,
): Promise<Answer | undefined> {
  if (!markBusy(ids)) return undefined
  return explained(call().finally(() => clearBusy(ids)))
}

/** Awaits an answer of the server. A refusal gives nothing, and is explained. */
export async function explained<Answer>(answer: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await answer
  } catch (error) {
    explain(error)
    return undefined
  }
}

/** Says in words of ours why a decision was refused. */
export function explain(error: unknown): void {
  if (!(error instanceof CallError)) throw error
  if (error.code === 'stale_preview') {
    const fresh = freshRequest(error.details)
    // One without a document comes to the desk by itself.
    // Neither is one of a document that was left meanwhile for us to show.
    if (fresh?.document_id && fresh.document_id === useOpenDocument.getState().id)
      useRequests.setState((state) => applyRequest(state, fresh))
    return toast('The suggestion changed while you looked. Check it again.')
  }
  toast(wordsFor(error))
  openDocument()?.redraw()
}
