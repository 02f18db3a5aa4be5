/**
 * The desk by keyboard: the same letters and chords as beside a text, about the card that has the
 * focus.
 */
import { actionOf } from '../../review/state/keyActions.ts'
import { useBusy } from '../../review/stores/busy.ts'
import { mayDecide, mayType, type Reviewer } from '../../review/state/permissions.ts'
import { useSession } from '../../session/store.ts'
import type { ToolApprovalRequest } from '../../wire/generated.ts'
import { step } from './focusedCard.ts'
import { undoFileAction } from './undo.ts'
import { goTo } from './bin.ts'
import { decideRequest } from './decide.ts'
import { updateCard, useInbox } from './store.ts'
import { cardOf, isField } from './useFocusedCard.ts'

export function handleInboxKey(
  event: KeyboardEvent,
  desk: HTMLElement,
  waiting: readonly ToolApprovalRequest[],
  at: string | null,
  reviewer: Reviewer,
): void {
  // Who writes means the letter; what is open above the desk has keys of its own.
  if (
    isField(event.target) ||
    !(event.target instanceof Element) ||
    event.target.closest('dialog') !== desk.closest('dialog')
  )
    return
  const here = cardOf(event.target)
  const request = waiting.find(({ request_id }) => request_id === here)
  // Where something is begun about it, that is gone on with.
  const free = request !== undefined && !(request.request_id in useInbox.getState().doing)
  const online = useSession.getState().link === 'online'
  if (online && actionOf(event, true) === 'undo' && undo(event.target, reviewer))
    return event.preventDefault()
  const act = actionOf(event, free && mayDecide(request, reviewer) && online, mayType(reviewer))
  switch (act) {
    case 'next':
    case 'previous': {
      const ids = waiting.map(({ request_id }) => request_id)
      // From outside the cards one comes to the one that was last looked at.
      const target = here === null ? (at ?? undefined) : step(here, act === 'next' ? 1 : -1, ids)
      if (target !== undefined) focusCard(desk, target)
      break
    }
    case 'accept':
      if (request) approve(request)
      break
    case 'reject':
      if (request) updateCard(request.request_id, 'rejecting')
      break
    case 'edit':
      if (request?.allowed_decisions.includes('edit')) updateCard(request.request_id, 'editing')
      break
    // Esc closes the desk; the sheet is that of the page below.
    default:
      return
  }
  event.preventDefault()
}

/** A request that needs a second look is never approved by one stray key. */
export function approve(request: ToolApprovalRequest): void {
  if (useBusy.getState().ids.has(request.request_id)) return
  if (request.default_to_no) updateCard(request.request_id, 'confirming')
  else void decideRequest(request, { approved: true })
}

/** Returns whether it is there. */
export function focusCard(desk: HTMLElement, id: string): boolean {
  const name = CSS.escape(id)
  const card = desk.querySelector<HTMLElement>(`[data-request="${name}"], [data-ended="${name}"]`)
  card?.focus({ preventScroll: true })
  card?.scrollIntoView({ block: 'nearest' })
  return card !== null
}

/**
 * Returns the request that U takes back: the card that the person is at, or the one approved last.
 */
function undo(at: Element, reviewer: Reviewer): boolean {
  const { requests, approved } = useInbox.getState()
  const id = at.closest<HTMLElement>('[data-ended]')?.dataset.ended ?? approved
  const request = id === null ? undefined : requests[id]
  if (!request?.aftermath?.can_undo || !mayDecide(request, reviewer)) return false
  goTo(request.request_id)
  void undoFileAction(request)
  return true
}
