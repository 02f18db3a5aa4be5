/**
 * The modes in which calls of a question are approved: each on its own, after a plan, or not at
 * all.
 */
import { create } from 'zustand'
import type { PermissionMode } from '../wire/generated.ts'
import { useSession } from '../session/store.ts'

const KEY = 'copydesk:mode'

/**
 * The modes there are words for, in the order they are offered; the server says which of them it
 * has for us.
 */
export const MODES: readonly { mode: PermissionMode; name: string; what: string }[] = [
  { mode: 'sdk', name: 'Review', what: 'You decide about every change' },
  {
    mode: 'toolApproval',
    name: 'Plan',
    what: 'You approve a plan first, then decide about every change',
  },
  {
    mode: 'mcpProxy',
    name: 'Claude CLI',
    what: 'The Claude CLI on this server answers, with its own login; you decide about every change',
  },
  {
    mode: 'bypassPermissions',
    name: 'Skip approvals',
    what: 'Changes land at once; each can be undone',
  },
]

/** The mode of this tab; null for the server's. */
export const useMode = create<{ chosen: PermissionMode | null }>()(() => ({
  chosen: MODES.find(({ mode }) => mode === sessionStorage.getItem(KEY))?.mode ?? null,
}))

export function chooseMode(mode: PermissionMode, ofServer: PermissionMode): void {
  if (mode === ofServer) sessionStorage.removeItem(KEY)
  else sessionStorage.setItem(KEY, mode)
  useMode.setState({ chosen: mode === ofServer ? null : mode })
}

/**
 * The mode to send along with a question: nothing if the server's mode is meant, or if it does not
 * let us choose that any more.
 */
export function chosenMode(): PermissionMode | undefined {
  const { chosen } = useMode.getState()
  return chosen !== null && useSession.getState().me?.permission_modes.includes(chosen)
    ? chosen
    : undefined
}
