/** Find and replace in the whole text, of which the browser knows only what is on the screen. */
import type { EditorView } from '@codemirror/view'
import { toast } from '../../ui/toasts.ts'

/** Opens it. It is fetched the first time a person asks for it. */
export async function find(view: EditorView): Promise<void> {
  const part = await import('./FindBar.tsx').catch(() => null)
  if (part) part.openFindBar(view)
  else toast('Find and replace could not be loaded. Try again once you are online.')
}
