/**
 * Half-written words about requests that were decided otherwise, offered back: no words are thrown
 * away.
 */
import { Button } from '../../ui/Button.tsx'
import { useRef } from 'react'
import { copyText } from '../../ui/clipboard.ts'
import { type DraftStore, useDrafts, forgetOrphan } from '../stores/drafts.ts'
import type { Orphan } from '../state/drafts.ts'
import './OrphanedDraftList.css'

interface Props {
  store?: DraftStore
  /** Puts them into the text, where there is one. */ onPutIn?: ((text: string) => void) | undefined
}

export function OrphanedDraftList({ store: useThese = useDrafts, onPutIn }: Props) {
  const orphans = useThese(({ orphans: all }) => all)
  const section = useRef<HTMLElement>(null)
  /** The focus goes to the words beside those that go, or to what follows the only ones. */
  const throwAway = (orphan: Orphan) => {
    const words = [...(section.current?.querySelectorAll('blockquote') ?? [])]
    const at = orphans.indexOf(orphan)
    const dialog = section.current?.closest('dialog')
    const list = section.current?.nextElementSibling
    for (const place of [words[at + 1], words[at - 1], list, dialog?.querySelector('button')]) {
      if (!(place instanceof HTMLElement)) continue
      place.focus()
      if (document.activeElement === place) break
    }
    forgetOrphan(orphan, useThese)
  }
  if (orphans.length === 0) return null
  return (
    <section ref={section} className="card orphans" aria-label="Your unfinished words" role="alert">
      <h3>Your words are still here</h3>
      {orphans.map((orphan) => {
        const { id, text, why } = orphan
        return (
          <div key={`${id} ${text}`}>
            <p className="card-note">{why}</p>
            <blockquote tabIndex={0}>{text}</blockquote>
            <div className="hunk-actions">
              {onPutIn && (
                <Button
                  look="primary"
                  onClick={() => {
                    onPutIn(text)
                    forgetOrphan(orphan, useThese)
                  }}
                >
                  Put in at the caret
                </Button>
              )}
              <Button onClick={() => void copyText(text)}>Copy</Button>
              <Button look="danger" onClick={() => throwAway(orphan)}>
                Discard
              </Button>
            </div>
          </div>
        )
      })}
    </section>
  )
}
