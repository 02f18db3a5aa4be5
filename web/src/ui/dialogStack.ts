/**
 * The dialogs that are open, the topmost last: everything outside of that is inert and lies behind
 * it.
 */
import { create } from 'zustand'

export const useDialogStack = create<{ dialogs: readonly HTMLElement[] }>()(() => ({ dialogs: [] }))

/** Lies on top from now on, until the answer is called. */
export function topDialog(dialog: HTMLElement): () => void {
  useDialogStack.setState(({ dialogs }) => ({ dialogs: [...dialogs, dialog] }))
  return () =>
    useDialogStack.setState(({ dialogs }) => ({
      dialogs: dialogs.filter((other) => other !== dialog),
    }))
}
