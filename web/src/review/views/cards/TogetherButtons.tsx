/** Decisions about a change together with others like it. */
import { Button } from '../../../ui/Button.tsx'
import type { Hunk } from '../../../wire/generated.ts'
import { useReviewState } from '../../hooks/useReviewState.ts'
import { useOpenDocument } from '../../../document/useOpenDocument.ts'
import { alike, inParagraph } from '../../state/similar.ts'
import { usePanel } from '../../stores/panel.ts'
import './TogetherButtons.css'

/** The ways to decide a change together with others like it. */
export function TogetherButtons({ hunk }: { hunk: Hunk }) {
  const all = useReviewState((review) => review.hunks)
  const doc = useOpenDocument(({ snapshot }) => snapshot?.doc)
  if (!doc) return null
  const same = alike(all, hunk)
  const near = inParagraph(all, hunk, doc)
  const ways = [
    { words: `Decide all ${same.length} alike…`, title: 'Changes like this one', hunks: same },
    {
      words: `Decide this paragraph (${near.length})…`,
      title: 'Changes of this paragraph',
      hunks: near,
    },
  ].filter(({ hunks }) => hunks.length > 1)
  if (ways.length === 0) return null
  return (
    <span className="decide-together">
      {ways.map(({ words, ...together }) => (
        <Button look="quiet" key={words} onClick={() => usePanel.setState({ together })}>
          {words}
        </Button>
      ))}
    </span>
  )
}
