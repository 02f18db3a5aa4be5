/**
 * Half-written words about what was decided otherwise, offered back: nobody's words are thrown
 * away.
 */
import { copyText } from '../ui/clipboard.ts'
import { type DraftStore, forgetOrphan, useDrafts } from './state/drafts.ts'

interface Props {
  store?: DraftStore
  /** Puts them into the text, where there is one. */ onPutIn?: ((text: string) => void) | undefined
}

export function OrphanedDraftList({ store: useThese = useDrafts, onPutIn }: Props) {
  const orphans = useThese(({ orphans: all }) => all)
  if (orphans.length === 0) return null
  return (
    <section className="card orphans" aria-label="Your unfinished words" role="alert">
      <h3>Your words are still here</h3>
      {orphans.map(({ id, text, why }, index) => (
        <div key={`${id} ${index}`}>
          <p className="card-note">{why}</p>
          <blockquote tabIndex={0}>{text}</blockquote>
          <div className="hunk-actions">
            {onPutIn && (
              <button
                type="button"
                className="button is-primary"
                onClick={() => {
                  onPutIn(text)
                  forgetOrphan(id, useThese)
                }}
              >
                Put in at the caret
              </button>
            )}
            <button type="button" className="button" onClick={() => void copyText(text)}>
              Copy
            </button>
            <button
              type="button"
              className="button is-danger"
              onClick={() => forgetOrphan(id, useThese)}
            >
              Throw away
            </button>
          </div>
        </div>
      ))}
    </section>
  )
}
