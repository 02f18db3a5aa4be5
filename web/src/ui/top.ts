/** The dialogs that are open, the topmost last: everything outside of that is inert and lies behind it. */
import { create } from 'zustand'

export const useTop = create<{ dialogs: readonly HTMLElement[] }>()(() => ({ dialogs: [] }))

/** Lies on top from now on, until the answer is called. */
export function onTop(dialog: HTMLElement): () => void {
  useTop.setState(({ dialogs }) => ({ dialogs: [...dialogs, dialog] }))
  return () => useTop.setState(({ dialogs }) => ({ dialogs: dialogs.filter((other) => other !== dialog) }))
}
