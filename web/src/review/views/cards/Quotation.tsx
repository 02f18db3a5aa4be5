/** Words that go and come, as marked words. */
import { Fragment } from 'react'
import type { SnippetPiece } from '../../state/snippet.ts'
import './Quotation.css'

export function Quotation({ pieces }: { pieces: readonly SnippetPiece[] }) {
  return (
    <>
      {pieces.map(({ kind, text }, index) => {
        if (kind === 'same') return text
        if (kind === 'far')
          return (
            <span key={index} className="far">
              {text}
            </span>
          )
        // A line may break between what goes and what comes, rather than within a word.
        return kind === 'gone' ? (
          <Fragment key={index}>
            <del>{text}</del>
            <wbr />
          </Fragment>
        ) : (
          <ins key={index}>{text}</ins>
        )
      })}
    </>
  )
}
