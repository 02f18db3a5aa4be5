/**
 * Markdown for the editor, also for what is pasted, and what is drawn around the text, fetched
 * beside it: the text can be read before it is known which of it are headings.
 */
import { Compartment, type Extension } from '@codemirror/state'
import { type EditorView, ViewPlugin } from '@codemirror/view'
import { toast } from '../ui/toasts.ts'

const place = new Compartment()
let known: Extension | null = null
const fetched = Promise.all([
  import('./markdown/markdown.ts'),
  import('./paste/richPaste.ts'),
  import('./direction.ts'),
  import('./readerNotes.ts'),
  import('../frozen/menu.ts'),
  import('../review/text/lineMarks.ts'),
]).then(
  ([
    { markdown },
    { richPaste },
    { lineDirections },
    { readerNotes },
    { freezeMenu },
    { lineMarks },
  ]) => (known = [markdown(), richPaste(), lineDirections, readerNotes, freezeMenu(), lineMarks]),
  () => null,
)

class Fetching {
  private gone = false

  constructor(view: EditorView) {
    if (known) return
    void fetched.then((markdown) => {
      if (this.gone) return
      if (markdown) view.dispatch({ effects: place.reconfigure(markdown) })
      else toast('Headings and emphasis could not be loaded. Reload the page once you are online.')
    })
  }

  destroy(): void {
    this.gone = true
  }
}

export function language(): Extension {
  return [place.of(known ?? []), ViewPlugin.fromClass(Fetching)]
}
