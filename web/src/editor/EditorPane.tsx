/**
 * Puts the editor on the page, acts on the marks beside the changes, and has a change edited in its
 * own place.
 */
import type { EditorState } from '@codemirror/state'
import type { EditorView } from '@codemirror/view'
import { useEffect, useLayoutEffect, useRef, useState } from 'react'
import { createPortal } from 'react-dom'
import {
  EDIT_HOST,
  HUNK_ACTION,
  type HunkAction,
  setEditTools,
} from '../review/text/decorations.ts'
import { hunksOf, setActive, setEditing, setEdits } from '../review/text/reviewField.ts'
import { keptEdits, useDrafts } from '../review/stores/drafts.ts'
import { useBusy } from '../review/stores/busy.ts'
import { usePanel } from '../review/stores/panel.ts'
import { useReviewState } from '../review/hooks/useReviewState.ts'
import { lazyPart } from '../ui/lazyPart.tsx'
import './EditorPane.css'

void import('../review/state/editedHunk.ts').then(({ editTools }) => setEditTools(editTools))

const HunkEdit = lazyPart(() =>
  import('../review/views/cards/HunkEdit.tsx').then((all) => all.HunkEdit),
)

export function EditorPane({ view }: { view: EditorView }) {
  const frame = useRef<HTMLDivElement>(null)
  // Shown at once; that it is decided is shown once the server has said so.
  const active = useReviewState(({ active }) => active)
  const deciding = useBusy(({ ids }) => active !== null && ids.has(active))
  useEffect(() => {
    const shown = frame.current
    if (!shown) return
    shown.append(view.dom)
    const listen = (event: Event) => activate(view, (event as CustomEvent<HunkAction>).detail)
    shown.addEventListener(HUNK_ACTION, listen)
    return () => shown.removeEventListener(HUNK_ACTION, listen)
  }, [view])
  return (
    <>
      <div ref={frame} className={deciding ? 'is-deciding' : ''} />
      <InPlaceEdit view={view} />
    </>
  )
}

function activate(view: EditorView, { id }: HunkAction): void {
  if (hunksOf(view.state).some((hunk) => hunk.id === id))
    view.dispatch({ effects: setActive.of(id) })
}

interface Place {
  host: HTMLElement
  id: string
  /** The editor's state when it made room. */
  opened: EditorState
}

/**
 * Draws the edit in the room that the editor made. The words are kept elsewhere, so that it can
 * come and go with the lines on the screen.
 */
function InPlaceEdit({ view }: { view: EditorView }) {
  const [place, setPlace] = useState<Place | null>(null)
  const hunks = useReviewState(({ hunks }) => hunks)
  useLayoutEffect(() => {
    const take = (event: Event) => {
      const { host, id, gone } = (event as CustomEvent<Partial<Place> & { gone?: HTMLElement }>)
        .detail
      if (host && id !== undefined) setPlace({ host, id, opened: view.state })
      else setPlace((now) => (now?.host === gone ? null : now))
    }
    const follow = (id: string | null) => view.dispatch({ effects: setEditing.of(id) })
    view.dom.addEventListener(EDIT_HOST, take)
    const stop = usePanel.subscribe((panel, before) => {
      if (panel.editing !== before.editing) follow(panel.editing)
    })
    const stopEdits = useDrafts.subscribe(({ written }, before) => {
      if (written !== before.written) view.dispatch({ effects: setEdits.of(keptEdits()) })
    })
    return () => {
      stop()
      stopEdits()
      view.dom.removeEventListener(EDIT_HOST, take)
    }
  }, [view])
  const at = hunks.findIndex((hunk) => hunk.id === place?.id)
  const hunk = hunks[at]
  return place && hunk
    ? createPortal(
        <HunkEdit key={hunk.id} hunk={hunk} number={at + 1} opened={place.opened} />,
        place.host,
      )
    : null
}
