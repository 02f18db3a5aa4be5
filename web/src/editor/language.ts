/**
 * Markdown for the editor, also for what is pasted, what is drawn around the text, and the keys of
 * the review, fetched beside the text: it can be read before it is known which of it are headings.
 */
import { Compartment, type Extension, Prec } from '@codemirror/state'
import { EditorView, keymap, runScopeHandlers, ViewPlugin } from '@codemirror/view'
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
  import('../review/actions/keyBindings.ts'),
]).then(
  ([
    { markdown },
    { richPaste },
    { lineDirections },
    { readerNotes },
    { freezeMenu },
    { lineMarks },
    { heldChords, reviewKeys },
  ]) =>
    (known = [
      markdown(),
      richPaste(),
      lineDirections,
      readerNotes,
      freezeMenu(),
      lineMarks,
      Prec.highest(heldChords),
      Prec.high(keymap.of(reviewKeys)),
    ]),
  () => null,
)

/** Keys of the review, but `Mod-z`: nothing was decided here that it could take back. */
const isOfReview = ({ key, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean =>
  key === 'F8' || key === 'Escape' || (key === 'Enter' && (ctrlKey || metaKey || altKey))

/** A press of one of them waits until they are there. */
const waitingPresses = Prec.highest(
  EditorView.domEventHandlers({
    keydown(event, view) {
      if (!isOfReview(event)) return false
      if (!event.repeat) void fetched.then(() => runScopeHandlers(view, event, 'editor'))
      return true
    },
  }),
)

const fetching = ViewPlugin.define((view) => {
  let isGone = false
  const put = (extensions: Extension | null) => {
    if (isGone) return
    if (extensions) view.dispatch({ effects: place.reconfigure(extensions) })
    else toast('Headings and emphasis could not be loaded. Reload the page once you are online.')
  }
  if (!known) void fetched.then(put)
  return { destroy: () => void (isGone = true) }
})

export function language(): Extension {
  return [place.of(known ?? waitingPresses), fetching]
}
