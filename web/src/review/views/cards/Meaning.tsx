/** A sentence for each mark of a change, and the reason that the AI gave. */
import { Icon } from '../../../ui/icons.tsx'
import type { Hunk } from '../../../wire/generated.ts'
import { firstOf } from '../../state/marks.ts'
import { markWords } from '../../state/markWords.ts'
import './Meaning.css'

/** Marks of one change that are shown. */
const MOST_MARKS = 6

export function Meaning({ hunk }: { hunk: Pick<Hunk, 'marks'> }) {
  const said = firstOf(hunk, markWords, MOST_MARKS)
  if (said.length === 0) return null
  return (
    <span className="meaning">
      {said.map((words, at) => (
        <span key={at} className="badge" dir="auto">
          <Icon name="differs" size={11} /> {words}
        </span>
      ))}
    </span>
  )
}

/** Nothing where no reason was given. */
export const Reason = ({ hunk: { explanation } }: { hunk: Pick<Hunk, 'explanation'> }) =>
  explanation ? (
    <p className="hunk-why" dir="auto">
      {explanation}
    </p>
  ) : null
