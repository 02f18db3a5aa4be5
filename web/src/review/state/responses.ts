/** Messages of decisions. Pure: the same value is shown ("What the AI will be told") and sent. */
import type {
  ToolApprovalRequest,
  ToolApprovalResponse,
  Hunk,
  HunkResponse,
} from '../../wire/generated.ts'

/** Decision about the changes of the same request that are not named; missing: they stay open. */
export type RestDecision = 'accept' | 'reject' | undefined

/** Further content of a decision about one change. */
export interface DecisionExtras {
  /** The reason of a rejection, or a note that goes with an accept. */
  words?: string
  /** The text to put there instead of the proposed one. */
  text?: string
  rest?: RestDecision
}

/** The words a conflicted change would overwrite, as the person has them in view. */
export type SeenText = Pick<HunkResponse, 'force' | 'seen'>

/**
 * The words of a person's suggestion as they are shown: what its writer types elsewhere meanwhile
 * does not matter.
 */
export const hashOf = ({ hash }: Hunk): Pick<HunkResponse, 'hash'> =>
  hash === undefined ? {} : { hash }

export function acceptance(
  hunk: Hunk,
  { words = '', text, rest }: DecisionExtras = {},
  seen: SeenText = {},
): ToolApprovalResponse {
  const response: HunkResponse = {
    id: hunk.id,
    decision: 'accept',
    ...hashOf(hunk),
    ...(text !== undefined && { text }),
    ...seen,
  }
  return {
    request_id: hunk.request_id,
    approved: true,
    hunks: [response],
    ...(words && { note: words }),
    ...(rest && { finish: rest }),
  }
}

export function rejection(
  hunk: Hunk,
  { words = '', rest }: DecisionExtras = {},
): ToolApprovalResponse {
  return {
    request_id: hunk.request_id,
    approved: false,
    hunks: [{ id: hunk.id, decision: 'reject', ...hashOf(hunk) }],
    ...(words && { feedback: words }),
    ...(rest && { finish: rest }),
  }
}

/** Accepts what can be accepted; `edits` are the words that stand in the place of changes. */
export function acceptanceOfAll(
  { request_id, hunks }: ToolApprovalRequest,
  note = '',
  edits: Readonly<Record<string, string>> = {},
): ToolApprovalResponse {
  const edited = hunks
    .filter(({ id, status }) => status === 'pending' && edits[id] !== undefined)
    .map(({ id }): HunkResponse => ({ id, decision: 'accept', text: edits[id] }))
  return {
    request_id,
    approved: true,
    ...(note && { note }),
    ...(edited.length > 0 && { hunks: edited, finish: 'accept' }),
  }
}

export function rejectionOfAll(request: ToolApprovalRequest, feedback = ''): ToolApprovalResponse {
  return { request_id: request.request_id, approved: false, ...(feedback && { feedback }) }
}
