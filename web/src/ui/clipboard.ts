/** Putting text on the clipboard, with an answer for people. */
import { toast } from './toasts.ts'

/**
 * Returns whether it was copied; where the browser forbids it (a page over plain HTTP on another
 * machine), a toast asks people to copy by hand.
 */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    toast('Copied.', { about: 'copy' })
    return true
  } catch {
    toast('The browser does not let this page copy. Select the text and copy it yourself.', {
      about: 'copy',
    })
    return false
  }
}
