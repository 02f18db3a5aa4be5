/** Words somebody is putting in place of a proposal. They are kept until they are sent or thrown away, whoever decides meanwhile. */
import { create } from 'zustand'
import type { Hunk } from '../wire/types.ts'
import { fate } from './fate.ts'

export interface Orphan { id: string; text: string; why: string }

interface Drafts {
  /** By change, as far as something else than the proposal was written. */
  written: Readonly<Record<string, string>>
  /** Those whose change is no longer there to be decided. */
  orphans: readonly Orphan[]
}

export const NO_DRAFTS: Drafts = { written: {}, orphans: [] }
export const useDrafts = create<Drafts>()(() => NO_DRAFTS)

/** Remembers what is written for a change; `null`: nothing any more. */
export function writeDraft(id: string, text: string | null): void {
  useDrafts.setState(({ written }) => {
    const others = Object.fromEntries(Object.entries(written).filter(([other]) => other !== id))
    return { written: text === null ? others : { ...others, [id]: text } }
  })
}

/** The changes that can still be decided: drafts of others are offered back, with what became of their change. Pure. */
export function orphaned(drafts: Drafts, open: ReadonlySet<string>, sending: ReadonlySet<string>, find: (id: string) => Hunk | undefined): Drafts {
  const lost = Object.entries(drafts.written).filter(([id]) => !open.has(id) && !sending.has(id))
  if (lost.length === 0) return drafts
  const gone = new Set(lost.map(([id]) => id))
  return {
    written: Object.fromEntries(Object.entries(drafts.written).filter(([id]) => !gone.has(id))),
    orphans: [...drafts.orphans, ...lost.map(([id, text]) => ({ id, text, why: reason(find(id)) }))],
  }
}

function reason(hunk: Hunk | undefined): string {
  const words = hunk && fate(hunk)
  return words ? `${words}, while you were editing it.` : 'Decided while you were editing it.'
}

export function forgetOrphan(id: string): void {
  useDrafts.setState(({ orphans }) => ({ orphans: orphans.filter((orphan) => orphan.id !== id) }))
}
