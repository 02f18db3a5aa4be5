/** Puts the editor on the page and acts on the buttons beside the changes. */
import type { EditorView } from '@codemirror/view'
import { useEffect, useRef } from 'react'
import { HUNK_ACTION, type HunkAction } from '../review/changes/decorations.ts'
import { rejectHunk } from '../review/state/decide.ts'
import { activate, hunksOf, setActive } from '../review/changes/reviewField.ts'
import { accept, edit } from '../review/changes/keyBindings.ts'

export function EditorPane({ view }: { view: EditorView }) {
  const frame = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const shown = frame.current
    if (!shown) return
    shown.append(view.dom)
    const listen = (event: Event) => act(view, (event as CustomEvent<HunkAction>).detail)
    shown.addEventListener(HUNK_ACTION, listen)
    return () => shown.removeEventListener(HUNK_ACTION, listen)
  }, [view])
  return <div ref={frame} />
}

function act(view: EditorView, { id, action }: HunkAction): void {
  const hunk = hunksOf(view.state).find((hunk) => hunk.id === id)
  if (!hunk) return
  switch (action) {
    case 'activate':
      return view.dispatch({ effects: setActive.of(id) })
    case 'accept':
      return accept(hunk)
    case 'reject':
      return void rejectHunk(hunk)
    case 'edit':
      activate(view, hunk)
      return edit(hunk)
  }
}
