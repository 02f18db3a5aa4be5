/**
 * The decisions about a call as a whole that words can go with: the message, and the words for the
 * AI. Pure; sending is handed in.
 */
import type { ToolApprovalRequest, ToolApprovalResponse } from '../../wire/generated.ts'
import { acceptanceOfAll, rejectionOfAll, type RestDecision } from './responses.ts'
import { feedbackOnAcceptAll, feedbackOnApprove, feedbackOnRejectAll } from './modelFeedback.ts'

type Send = (request: ToolApprovalRequest, response: ToolApprovalResponse) => Promise<boolean>

/** One of the decisions the words can go with. */
export interface DecisionForm {
  verdict: 'accept' | 'reject' | 'answer'
  label: string
  /** The accessible name of the button, where several look the same. */
  name?: string | undefined
  /** The decision as it would be sent, and what can be said of it without the server. */
  draft: (words: string, rest: RestDecision) => ToolApprovalResponse
  feedback: (words: string) => string
  send: (words: string, rest: RestDecision) => Promise<boolean>
}

/** Sends just what `draft` makes of the words. */
const sending = (
  request: ToolApprovalRequest,
  send: Send,
  draft: (words: string) => ToolApprovalResponse,
): Pick<DecisionForm, 'draft' | 'send'> => ({
  draft,
  send: (words) => send(request, draft(words)),
})

export const rejectForm = (
  request: ToolApprovalRequest,
  label: string,
  send: Send,
  name?: string,
): DecisionForm => ({
  verdict: 'reject',
  label,
  name,
  feedback: (words) => feedbackOnRejectAll(request, words),
  ...sending(request, send, (words) => rejectionOfAll(request, words)),
})

export const approveForm = (
  request: ToolApprovalRequest,
  label: string,
  send: Send,
  name?: string,
): DecisionForm => ({
  verdict: 'accept',
  label,
  name,
  feedback: feedbackOnApprove,
  ...sending(request, send, (words) => acceptanceOfAll(request, words)),
})

/** A note with accepting all changes; `edits` are the words that stand in the place of some. */
export const acceptAllForm = (
  request: ToolApprovalRequest,
  label: string,
  send: Send,
  edits: Parameters<typeof acceptanceOfAll>[2],
): DecisionForm => ({
  verdict: 'accept',
  label,
  feedback: feedbackOnAcceptAll,
  ...sending(request, send, (words) => acceptanceOfAll(request, words, edits)),
})

/** Words for the AI instead of running the tool. */
export const respondForm = (
  request: ToolApprovalRequest,
  label: string,
  send: Send,
  name?: string,
): DecisionForm => ({
  verdict: 'answer',
  label,
  name,
  feedback: (words) => words,
  ...sending(request, send, (message) => ({
    request_id: request.request_id,
    decision: 'respond',
    message,
  })),
})
