/** Half-written edits of changes that somebody else decided: nobody's words are thrown away. */
import { useEffect } from 'react'
import { getCurrent } from '../editor/current.ts'
import { canWrite, useDocument } from '../editor/store.ts'
import { toast } from '../ui/toasts.ts'
import { useBusy } from './decide.ts'
import { forgetOrphan, orphaned, useDrafts } from './drafts.ts'
import { useReview } from './store.ts'

export function Orphans() {
  useOrphans()
  const orphans = useDrafts((state) => state.orphans)
  const writes = useDocument((state) => canWrite(state.role))
  if (orphans.length === 0) return null
  return (
    <section className="card orphans" aria-label="Your unfinished edits" role="alert">
      <h3>Your words are still here</h3>
      {orphans.map(({ id, text, why }) => (
        <div key={id}>
          <p className="fate">{why}</p>
          <blockquote>{text}</blockquote>
          <div className="hunk-actions">
            {writes && <button type="button" className="button is-primary" onClick={() => putIn(id, text)}>Put in at the caret</button>}
            <button type="button" className="button" onClick={() => void copy(text)}>Copy</button>
            <button type="button" className="button is-danger" onClick={() => forgetOrphan(id)}>Throw away</button>
          </div>
        </div>
      ))}
    </section>
  )
}

/** As one's own typing: it needs nobody's approval. */
function putIn(id: string, text: string): void {
  const view = getCurrent()?.view
  if (!view) return
  view.dispatch(view.state.replaceSelection(text), { scrollIntoView: true, userEvent: 'input' })
  view.focus()
  forgetOrphan(id)
}

async function copy(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text)
    toast('Copied.')
  } catch {
    toast('The browser does not let this page copy. Select the words and copy them by hand.')
  }
}

/** Once the screen shows a change as decided, and not while our own decision about it is on its way. */
function useOrphans(): void {
  const hunks = useDocument((state) => state.hunks)
  const phase = useDocument((state) => state.phase)
  const requests = useReview((state) => state.requests)
  const busy = useBusy((state) => state.ids)
  useEffect(() => {
    if (phase !== 'open') return
    const all = Object.values(requests).flatMap((request) => request.hunks)
    const open = new Set([...hunks, ...all.filter((hunk) => hunk.status === 'pending' || hunk.status === 'conflict')].map((hunk) => hunk.id))
    useDrafts.setState((drafts) => orphaned(drafts, open, busy, (id) => all.find((hunk) => hunk.id === id)))
  }, [hunks, phase, requests, busy])
}
