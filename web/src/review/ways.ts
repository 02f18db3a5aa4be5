/** The decisions about a call as a whole that words can go with: what is sent, and what the AI is told. Pure; sending is handed in. */
import type { ApprovalRequest, ApprovalResponse } from '../wire/types.ts'
import type { Way } from './ReasonForm.tsx'
import { acceptanceOfAll, rejectionOfAll } from './responses.ts'
import { toldOnApprove, toldOnRejectAll } from './told.ts'

type Send = (request: ApprovalRequest, response: Omit<ApprovalResponse, 'request_id'>) => Promise<boolean>

export function rejecting(request: ApprovalRequest, label: string, send: Send, name?: string): Way {
  return { verdict: 'reject', label, ...named(name), draft: (words) => rejectionOfAll(request, words), told: (words) => toldOnRejectAll(request, words), send: (words) => send(request, rejectionOfAll(request, words)) }
}

export function approving(request: ApprovalRequest, label: string, send: Send, name?: string): Way {
  return { verdict: 'accept', label, ...named(name), draft: (words) => acceptanceOfAll(request, words), told: toldOnApprove, send: (words) => send(request, acceptanceOfAll(request, words)) }
}

/** Words for the AI instead of running the tool. */
export function answering(request: ApprovalRequest, label: string, send: Send, name?: string): Way {
  const answer = (message: string): ApprovalResponse => ({ request_id: request.request_id, decision: 'respond', message })
  return { verdict: 'answer', label, ...named(name), draft: answer, told: (words) => words, send: (words) => send(request, answer(words)) }
}

const named = (name: string | undefined) => (name === undefined ? {} : { name })
