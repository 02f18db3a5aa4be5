/** The explanation of a request, cut to its beginning where it is long. */
import { Button } from '../../../ui/Button.tsx'
import { useState } from 'react'
import './Explanation.css'

/** Longer than this, the beginning is shown first: the changes need the room. */
const SHORT_EXPLANATION_CHARS = 110

export function Explanation({ words }: { words: string }) {
  const [whole, setWhole] = useState(false)
  if (words.length <= SHORT_EXPLANATION_CHARS) return <p className="answer">{words}</p>
  return (
    <p className={`answer ${whole ? '' : 'is-clamped'}`}>
      <span>{words}</span>{' '}
      <Button look="link" onClick={() => setWhole(!whole)}>
        {whole ? 'Less' : 'More'}
        <span className="hidden-label"> of the explanation</span>
      </Button>
    </p>
  )
}
