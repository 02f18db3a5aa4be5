/** Words that were typed and never sent, for somebody who cannot get to their document any more. */
import { useEffect, useState } from 'react'
import { stashed, unstash } from '../editor/sync/stash.ts'
import { useDocument } from '../editor/store.ts'
import { forgetDrafts, halfWritten } from '../review/state/drafts.ts'
import { copyText } from '../ui/clipboard.ts'

interface Kept {
  documentId: string | null
  words: readonly string[]
}

/**
 * What the page had already offered back, what was put aside when the document closed, and what was
 * half-written about requests.
 */
function gather(): Kept[] {
  const shown = useDocument.getState().recovered
  const unkept = [...shown, ...halfWritten()]
  return [
    ...(unkept.length > 0 ? [{ documentId: null, words: unkept }] : []),
    ...stashed(localStorage),
  ]
}

export function UnsentText() {
  const [kept, setKept] = useState<Kept[]>([])
  // After the page of the document is gone: it puts its words aside as it goes.
  useEffect(() => setKept(gather()), [])
  const text = kept.flatMap(({ words }) => words).join('\n\n')
  if (text === '') return null
  const forget = () => {
    kept.forEach(({ documentId }) => documentId !== null && unstash(localStorage, documentId))
    useDocument.setState({ recovered: [] })
    forgetDrafts()
    setKept([])
  }
  return (
    <section className="kept-words" aria-label="Your unsent words">
      <p>What you typed last may not have reached the document. It is kept on this device:</p>
      <blockquote className="recovered-text" tabIndex={0}>
        {text}
      </blockquote>
      <div className="dialog-foot">
        <button type="button" className="button is-primary" onClick={() => void copyText(text)}>
          Copy my words
        </button>
        <button type="button" className="button is-danger" onClick={forget}>
          Throw away
        </button>
      </div>
    </section>
  )
}
