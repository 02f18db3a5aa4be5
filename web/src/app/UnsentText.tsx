/** Words that were typed and never sent, for a person who cannot get to their document any more. */
import { useEffect, useState } from 'react'
import { Button } from '../ui/Button.tsx'
import { useOpenDocument } from '../document/useOpenDocument.ts'
import { wordsOf } from '../document/unsent/unsentEdit.ts'
import { allKept, forget, type KeptEdits } from '../document/unsent/unsentStorage.ts'
import { forgetDrafts, halfWritten } from '../review/stores/drafts.ts'
import { copyText } from '../ui/clipboard.ts'
import './UnsentText.css'

interface UnsentWords {
  text: string
  kept: readonly KeptEdits[]
}

/**
 * Words that the page had already offered back, that were put aside when the document closed, and
 * that were half-written about requests.
 */
async function gather(): Promise<UnsentWords> {
  const shown = useOpenDocument.getState().recovered
  const unkept = halfWritten()
  const kept = await allKept(localStorage)
  const edits = [...shown, ...kept.flatMap((one) => one.edits)]
  const once = [...new Map(edits.map((edit) => [edit.id, edit])).values()]
  const words = [...once.map(wordsOf), ...unkept].filter((text) => text !== '')
  return { text: words.join('\n\n'), kept }
}

export function UnsentText() {
  const [{ text, kept }, setUnsent] = useState<UnsentWords>({ text: '', kept: [] })
  // After the page of the document is gone: it puts its words aside as it goes.
  useEffect(() => void gather().then(setUnsent), [])
  if (text === '') return null
  const throwAway = () => {
    void forget(localStorage, kept)
    useOpenDocument.setState({ recovered: [] })
    forgetDrafts()
    setUnsent({ text: '', kept: [] })
  }
  return (
    <section className="kept-words" aria-label="Your unsent words">
      <p>What you typed last may not have reached the document. It is kept on this device:</p>
      <blockquote className="recovered-text" dir="auto" tabIndex={0}>
        {text}
      </blockquote>
      <div className="dialog-foot">
        <Button look="primary" onClick={() => void copyText(text)}>
          Copy my words
        </Button>
        <Button look="danger" onClick={throwAway}>
          Discard
        </Button>
      </div>
    </section>
  )
}
