/**
 * The decisions about a call as a whole that words can go with: the message, and the words for the
 * AI. Pure; sending is handed in.
 */
import type { ToolApprovalRequest, ToolApprovalResponse } from '../../wire/generated.ts'
import { acceptanceOfAll, rejectionOfAll, type RestDecision } from './responses.ts'
import { feedbackOnAcceptAll, feedbackOnApprove, feedbackOnRejectAll } from './modelFeedback.ts'

type Send = (
  request: ToolApprovalRequest,
  response: Omit<ToolApprovalResponse, 'request_id'>,
) => Promise<boolean>

export function rejectForm(
  request: ToolApprovalRequest,
  label: string,
  send: Send,
  name?: string,
): DecisionForm {
  return {
    verdict: 'reject',
    label,
    ...named(name),
    draft: (words) => rejectionOfAll(request, words),
    feedback: (words) => feedbackOnRejectAll(request, words),
    send: (words) => send(request, rejectionOfAll(request, words)),
  }
}

export function approveForm(
  request: ToolApprovalRequest,
  label: string,
  send: Send,
  name?: string,
): DecisionForm {
  return {
    verdict: 'accept',
    label,
    ...named(name),
    draft: (words) => acceptanceOfAll(request, words),
    feedback: feedbackOnApprove,
    send: (words) => send(request, acceptanceOfAll(request, words)),
  }
}

/** A note with accepting all changes; `edits` are the words that stand in the place of some. */
export function acceptAllForm(
  request: ToolApprovalRequest,
  label: string,
  send: Send,
  edits: Parameters<typeof acceptanceOfAll>[2],
): DecisionForm {
  return {
    verdict: 'accept',
    label,
    draft: (words) => acceptanceOfAll(request, words, edits),
    feedback: feedbackOnAcceptAll,
    send: (words) => send(request, acceptanceOfAll(request, words, edits)),
  }
}

/** Words for the AI instead of running the tool. */
export function respondForm(
  request: ToolApprovalRequest,
  label: string,
  send: Send,
  name?: string,
): DecisionForm {
  const answer = (message: string): ToolApprovalResponse => ({
    request_id: request.request_id,
    decision: 'respond',
    message,
  })
  return {
    verdict: 'answer',
    label,
    ...named(name),
    draft: answer,
    feedback: (words) => words,
    send: (words) => send(request, answer(words)),
  }
}

const named = (name: string | undefined) => (name === undefined ? {} : { name })

/** One of the decisions the words can go with. */
export interface DecisionForm {
  verdict: 'accept' | 'reject' | 'answer'
  label: string
  /** The accessible name of the button, where several look the same. */
  name?: string
  /** The decision as it would be sent, and what can be said of it without the server. */
  draft: (words: string, rest: RestDecision) => ToolApprovalResponse
  feedback: (words: string) => string
  send: (words: string, rest: RestDecision) => Promise<boolean>
}
