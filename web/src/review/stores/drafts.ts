/**
 * Half-written words: edits of a proposal, reasons, notes, answers. They are kept until they are
 * sent or thrown away, also when others decide meanwhile.
 */
import { useLayoutEffect, useReducer } from 'react'
import { create, type StoreApi, type UseBoundStore } from 'zustand'
import { useOpenDocument } from '../../document/useOpenDocument.ts'
import { canWrite } from '../../session/roles.ts'
import { type Drafts, NO_DRAFTS, type Orphan } from '../state/drafts.ts'

export type DraftStore = UseBoundStore<StoreApi<Drafts>>
const drafts = (): DraftStore => create<Drafts>()(() => NO_DRAFTS)
/** Drafts about the open document. */
export const useDrafts = drafts()
/** Drafts about what belongs to no document; they outlast every page. */
export const useInboxDrafts = drafts()

/**
 * Returns the words written for one thing, and a function that keeps them; `null`: nothing any
 * more.
 */
export function useDraft(
  draft: string,
  store: DraftStore = useDrafts,
): readonly [string | undefined, (text: string | null) => void] {
  const [, drawAgain] = useReducer((times: number) => times + 1, 0)
  // Not zustand's own hook: under Preact that one listens from the next frame on, and what is typed
  // and sent before it would be sent without its words.
  useLayoutEffect(
    () =>
      store.subscribe((now, before) => {
        if (now.written[draft] !== before.written[draft]) drawAgain()
      }),
    [draft, store],
  )
  return [store.getState().written[draft], (text) => writeDraft(draft, text, store)]
}

/** Remembers what is written; `null`: nothing any more. */
export function writeDraft(
  draft: string,
  text: string | null,
  store: DraftStore = useDrafts,
): void {
  store.setState(({ written }) => {
    const others = Object.fromEntries(Object.entries(written).filter(([other]) => other !== draft))
    return { written: text === null ? others : { ...others, [draft]: text } }
  })
}

/** Edits of proposed changes that are kept, by the change; none for who may not write any more. */
export const keptEdits = (): Drafts['written'] =>
  canWrite(useOpenDocument.getState().role) ? useDrafts.getState().written : {}

/**
 * Everything that is half-written or was offered back, in the order it was written: for a person
 * who is about to lose sight of it.
 */
export function halfWritten(stores: readonly DraftStore[] = [useDrafts, useInboxDrafts]): string[] {
  const texts = stores
    .map((store) => store.getState())
    .flatMap(({ written, orphans }) => [
      ...orphans.map(({ text }) => text),
      ...Object.values(written),
    ])
  return texts.filter((text) => text.trim() !== '')
}

export function forgetDrafts(stores: readonly DraftStore[] = [useDrafts, useInboxDrafts]): void {
  for (const store of stores) store.setState(NO_DRAFTS)
}

export function forgetOrphan(gone: Orphan, store: DraftStore = useDrafts): void {
  store.setState(({ orphans }) => ({ orphans: orphans.filter((orphan) => orphan !== gone) }))
}
