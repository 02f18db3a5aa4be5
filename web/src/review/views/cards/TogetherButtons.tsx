/** Decisions about a change together with others like it. */
import type { Hunk } from '../../../wire/generated.ts'
import { useReviewState } from '../../hooks/useReviewState.ts'
import { useOpenDocument } from '../../../document/useOpenDocument.ts'
import { alike, inParagraph } from '../../state/similar.ts'
import { usePanel } from '../../stores/panel.ts'
import './TogetherButtons.css'

/** The ways to decide a change together with others like it. */
export function TogetherButtons({ hunk }: { hunk: Hunk }) {
  const hunks = useReviewState((review) => review.hunks)
  const doc = useOpenDocument(({ snapshot }) => snapshot?.doc)
  if (!doc) return null
  const list = (title: string, all: readonly Hunk[]) => ({ title, ids: all.map(({ id }) => id) })
  const same = alike(hunks, hunk)
  const near = inParagraph(hunks, hunk, doc)
  const ways = [
    { words: `Decide all ${same.length} alike…`, found: list('Changes like this one', same) },
    {
      words: `Decide this paragraph (${near.length})…`,
      found: list('Changes of this paragraph', near),
    },
  ].filter(({ found }) => found.ids.length > 1)
  if (ways.length === 0) return null
  return (
    <span className="decide-together">
      {ways.map(({ words, found }) => (
        <button
          type="button"
          key={words}
          className="button is-quiet"
          onClick={() => usePanel.setState({ together: found })}
        >
          {words}
        </button>
      ))}
    </span>
  )
}
