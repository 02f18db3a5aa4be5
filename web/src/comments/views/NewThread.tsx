/** Comments that begin a thread: the one that is being written, and those kept as drafts. */
import { useEffect, useRef } from 'react'
import { Button } from '../../ui/Button.tsx'
import type { Draft, Place } from '../state/drafts.ts'
import { shortQuote } from '../state/threads.ts'
import { forgetDraft } from '../stores/drafts.ts'
import { compose, showThread } from '../stores/threads.ts'
import { openDocument } from '../../document/openDocument.ts'
import { CommentField } from './CommentField.tsx'

export function NewThread({ place }: { place: Place }) {
  const quote = quoteOf(place)
  const box = useRef<HTMLElement>(null)
  // What it is about is in view, not only the field.
  useEffect(() => box.current?.scrollIntoView({ block: 'nearest' }), [])
  return (
    <section ref={box} className="thread is-active is-new" aria-label="New comment">
      <h3>
        {titleOf(place)}
        {quote && <q dir="auto">{shortQuote(quote)}</q>}
      </h3>
      <CommentField
        place={place}
        label="Comment"
        action="Comment"
        takesFocus
        onClose={() => {
          compose(null)
          // The words stay selected: one goes on from there.
          if (place.on === 'passage') openDocument()?.view.focus()
          else document.querySelector<HTMLElement>('.comment-filters .button')?.focus()
        }}
        onSent={({ id }) => {
          compose(null)
          showThread(id)
        }}
      />
    </section>
  )
}

export function DraftCard({ draft: { place, text, failed } }: { draft: Draft }) {
  const quote = quoteOf(place)
  return (
    <section className="thread is-draft" aria-label={`Draft: ${shortQuote(text)}`}>
      <p className="card-note">
        <b>Draft.</b> {quote ? `${titleOf(place)}: “${shortQuote(quote)}”` : titleOf(place)}
      </p>
      <p className="comment-text" dir="auto">
        {shortQuote(text, 200)}
      </p>
      {failed && <p className="warn-note">{failed}</p>}
      <div className="thread-foot">
        <Button onClick={() => compose(place)}>Continue</Button>
        <Button look="quiet" onClick={() => forgetDraft(place)}>
          Discard
        </Button>
      </div>
    </section>
  )
}

const quoteOf = (place: Place): string => ('quote' in place ? place.quote : '')

function titleOf(place: Place): string {
  if (place.on === 'change') return 'On a change'
  return place.on === 'passage' ? 'On these words' : 'On the whole document'
}
