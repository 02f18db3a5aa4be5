/** Keys that work anywhere on the page of a document. */
import { useEffect } from 'react'
import { focusComposer } from '../chat/composer/focusComposer.ts'
import { startComment } from '../comments/actions/start.ts'
import type * as beside from './besideText.ts'
import { openDocument } from '../document/openDocument.ts'
import { find } from '../editor/find/find.ts'
import { undo } from '@codemirror/commands'

type BesideText = typeof beside

/** `null` until it is fetched. From then on a key acts before the next one is pressed. */
let besideText: BesideText | null = null
const fetched = import('./besideText.ts').then(
  (module) => (besideText = module),
  () => null,
)

function withReview(act: (module: BesideText) => void): void {
  if (besideText) act(besideText)
  else void fetched.then((module) => module && act(module))
}

export function usePageKeys(
  setFocused: (change: (on: boolean) => boolean) => void,
  showShortcuts: () => void,
): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const mod = event.ctrlKey || event.metaKey
      if (mod && event.shiftKey && event.key.toLowerCase() === 'f') setFocused((on) => !on)
      else if (mod && !event.shiftKey && event.key.toLowerCase() === 'k')
        focusComposer(() => setFocused(() => false))
      else if (isFind(event) && !event.defaultPrevented && openFind()) return event.preventDefault()
      else if (isComment(event) && startComment()) return event.preventDefault()
      else if (event.key === '?' && !mod && !typing(event.target)) showShortcuts()
      else if (event.key === 'F8' && !event.defaultPrevented) withReview(enterReview)
      else if (isUndo(event) && !event.defaultPrevented && !hasOwnUndo(event.target))
        withReview(undoLast)
      else return
      event.preventDefault()
    }
    window.addEventListener('keydown', press)
    return () => window.removeEventListener('keydown', press)
  }, [setFocused, showShortcuts])
}

/**
 * From anywhere on the page into the text, to the change that is active; from there F8 goes on to
 * the next.
 */
function enterReview({ enter }: BesideText): void {
  const view = openDocument()?.view
  if (view && enter(view)) view.focus()
}

const isFind = ({ key, ctrlKey, metaKey, shiftKey, altKey }: KeyboardEvent): boolean =>
  (ctrlKey || metaKey) && !shiftKey && !altKey && key.toLowerCase() === 'f'

/** `false`: there is no text, or a dialog lies over it, and the browser finds in that. */
function openFind(): boolean {
  const view = openDocument()?.view
  if (!view?.dom.isConnected || document.querySelector('dialog[open]')) return false
  void find(view)
  return true
}

/** By its place: with Alt the key writes another letter on some keyboards. AltGr is not meant. */
const isComment = (event: KeyboardEvent): boolean =>
  (event.ctrlKey || event.metaKey) &&
  event.altKey &&
  event.code === 'KeyM' &&
  !event.getModifierState('AltGraph')

const isUndo = ({ key, ctrlKey, metaKey, shiftKey, altKey }: KeyboardEvent): boolean =>
  (ctrlKey || metaKey) && !shiftKey && !altKey && key.toLowerCase() === 'z'

/** Fields of text take back what was typed in them; dialogs are about something else. */
const hasOwnUndo = (target: EventTarget | null): boolean =>
  typing(target) || (target instanceof Element && target.closest('dialog') !== null)

/** The last thing that was done here: a decision, or words that were typed. */
function undoLast({ undoLastAct }: BesideText): void {
  const view = openDocument()?.view
  if (view && !undoLastAct()) undo(view)
}

function typing(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && (target.isContentEditable || target.matches('input, textarea'))
  )
}
