/** Words that were typed and never sent, for somebody who cannot get to their document any more. */
import { useEffect, useState } from 'react'
import { allUnsent, takeUnsent } from '../editor/sync/unsentStorage.ts'
import { useDocument } from '../editor/store.ts'
import { forgetDrafts, halfWritten } from '../review/drafts/drafts.ts'
import { copyText } from '../ui/clipboard.ts'

interface UnsentWords {
  documentId: string | null
  words: readonly string[]
}

/**
 * What the page had already offered back, what was put aside when the document closed, and what was
 * half-written about requests.
 */
function gather(): UnsentWords[] {
  const shown = useDocument.getState().recovered
  const unkept = [...shown, ...halfWritten()]
  return [
    ...(unkept.length > 0 ? [{ documentId: null, words: unkept }] : []),
    ...allUnsent(localStorage),
  ]
}

export function UnsentText() {
  const [unsent, setUnsent] = useState<UnsentWords[]>([])
  // After the page of the document is gone: it puts its words aside as it goes.
  useEffect(() => setUnsent(gather()), [])
  const text = unsent.flatMap(({ words }) => words).join('\n\n')
  if (text === '') return null
  const forget = () => {
    unsent.forEach(({ documentId }) => documentId !== null && takeUnsent(localStorage, documentId))
    useDocument.setState({ recovered: [] })
    forgetDrafts()
    setUnsent([])
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
