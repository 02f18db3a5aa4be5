/** Proposing again, on today's text, what was refused, ran out of time or lost its words. */
import { create } from 'zustand'
import { wire } from '../../session/store.ts'
import { toast } from '../../ui/toasts.ts'
import { plural } from '../../ui/timeFormat.ts'
import type {
  ToolApprovalRequest,
  ToolApprovalResolved,
  Hunk,
  ReopenRequest,
} from '../../wire/generated.ts'
import { explained } from './explain.ts'
import { usePanel } from '../stores/panel.ts'
import { isRefused } from '../state/refused.ts'

/** Changes that found no place when they were last proposed again. */
export const useUnplacedHunks = create<{ ids: ReadonlySet<string> }>()(() => ({ ids: new Set() }))

/**
 * A suggestion ended because its words were deleted, perhaps by a slip of the hand: they may come
 * back, and it can too.
 */
export function notifyIfObsolete(
  known: ToolApprovalRequest | undefined,
  { status, hunks }: ToolApprovalResolved,
): void {
  // What its writer takes back is not lost.
  if (!known || known.source === 'person' || status !== 'cancelled') return
  const lost = hunks.filter((hunk) => hunk.status === 'obsolete').length
  if (lost === 0 || lost < hunks.length || known.hunks.every((hunk) => hunk.status === 'obsolete'))
    return
  const open = { label: 'Show', run: () => usePanel.setState({ open: true, view: 'bin' }) }
  toast(
    `${plural(lost, 'change')} went with the words. You can bring ${lost === 1 ? 'it' : 'them'} back from the bin.`,
    { action: open, about: 'bin' },
  )
}

/** Everything of a suggestion that was not accepted. */
export const proposeAgain = ({ request_id, hunks }: ToolApprovalRequest): Promise<boolean> =>
  reopen(
    { request_id },
    hunks.filter(isRefused).map(({ id }) => id),
  )

/** One change; the others of its suggestion stay as they are. */
export const proposeOneAgain = (hunk: Hunk): Promise<boolean> =>
  reopen({ request_id: hunk.request_id, hunks: [hunk.id] }, [hunk.id])

/** Takes rejections back; said only where a change found no place. */
export const bringBack = (request_id: string, hunks: readonly string[]): Promise<boolean> =>
  reopen({ request_id, hunks: [...hunks] }, hunks, true)

async function reopen(
  wish: ReopenRequest,
  meant: readonly string[],
  quiet = false,
): Promise<boolean> {
  const answer = await explained(wire.call('approval:reopen', wish))
  if (!answer) return false
  const { unplaced = [] } = answer
  useUnplacedHunks.setState(({ ids }) => ({
    ids: new Set([...[...ids].filter((id) => !meant.includes(id)), ...unplaced]),
  }))
  const placed = meant.length - unplaced.length
  const lost =
    unplaced.length === 0
      ? ''
      : ` ${unplaced.length} could not be placed: ${unplaced.length === 1 ? 'its' : 'their'} words are no longer in the text.`
  if (!quiet || lost !== '') toast(`${plural(placed, 'change')} back for review.${lost}`)
  return true
}
