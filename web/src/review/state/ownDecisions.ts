/** What the server does not tell of single changes until their request is finished: reasons given here, approvals given here. */
import { create } from 'zustand'
import type { Hunk, Person } from '../../wire/generated.ts'
import type { Landed } from './undo.ts'

interface OwnDecisions {
  /** Why changes were rejected. */
  reasons: Readonly<Record<string, string>>
  /** Changes that were approved and wait for others. */
  approved: ReadonlySet<string>
}

export const NO_DECISIONS: OwnDecisions = { reasons: {}, approved: new Set() }
export const useOwnDecisions = create<OwnDecisions>()(() => NO_DECISIONS)

/** Decided for good: nobody else is needed. */
export function keepReason(done: readonly Landed[], reason = ''): void {
  useOwnDecisions.setState(({ reasons, approved }) => {
    const ids = done.flatMap(({ accepted, rejected }) => [...accepted, ...rejected])
    const given = done.flatMap(({ rejected }) => rejected.map((id) => [id, reason] as const))
    return {
      reasons: { ...reasons, ...Object.fromEntries(given) },
      approved: new Set([...approved].filter((id) => !ids.includes(id))),
    }
  })
}

export function keepApproval(ids: readonly string[]): void {
  useOwnDecisions.setState(({ approved }) => ({ approved: new Set([...approved, ...ids]) }))
}

/** Open again: what was decided about them counts no more. */
export function forgetDecisionsAbout(ids: readonly string[]): void {
  useOwnDecisions.setState(({ reasons, approved }) => ({
    reasons: Object.fromEntries(Object.entries(reasons).filter(([id]) => !ids.includes(id))),
    approved: new Set([...approved].filter((id) => !ids.includes(id))),
  }))
}

/** Who approved a change that still waits for others: as the server says, and oneself. */
export function approversOf(
  hunk: Hunk & { votes?: readonly Person[] },
  approvedHere: ReadonlySet<string>,
  me: string | undefined,
): string[] {
  const others = (hunk.votes ?? []).filter(({ id }) => id !== me).map(({ name }) => name)
  const mine = approvedHere.has(hunk.id) || (hunk.votes ?? []).some(({ id }) => id === me)
  return mine ? ['You', ...others] : others
}
