/** Filter and order of the list of changes, where they differ. */
import { Choice } from '../../../ui/Choice.tsx'
import type { Hunk } from '../../../wire/generated.ts'
import { arrangeList } from '../../actions/activeChange.ts'
import { type Arrangement, isMarked, shownKind } from '../../state/marks.ts'
import { showChoices } from '../../state/markWords.ts'
import { usePanel } from '../../stores/panel.ts'
import './ListChoice.css'

const ORDERS = [
  ['place', 'by place'],
  ['kind', 'by kind'],
  ['weight', 'by weight'],
  ['person', 'by person'],
] as const

interface Props {
  all: readonly Hunk[]
  /** The changes of this request, and the number of those that are shown. */
  of: readonly Hunk[]
  shown: number
}

export function ListChoice({ all, of, shown }: Props) {
  const arrangement = usePanel((panel) => panel.list)
  if (shown === of.length && !isArrangeable(of, all, arrangement)) return null
  return (
    <div className="list-choice" role="group" aria-label="List of changes">
      {(of.some(isMarked) || shown < of.length) && (
        <Choice
          label="Show in the list"
          value={shownKind(all, arrangement)}
          options={showChoices(all)}
          onChoose={(show) => arrangeList({ show })}
        />
      )}
      <Choice
        label="Order of the list"
        value={arrangement.order}
        options={ORDERS}
        onChoose={(order) => arrangeList({ order })}
      />
      <span role="status">{shown < of.length && `${shown} of ${of.length} changes shown`}</span>
    </div>
  )
}

/** Returns whether another order or filter would change the list. */
function isArrangeable(
  of: readonly Hunk[],
  all: readonly Hunk[],
  { later, personOf }: Arrangement,
): boolean {
  const differ = (values: readonly unknown[]) => new Set(values).size > 1
  return (
    of.some((hunk) => isMarked(hunk) || later.has(hunk.id)) ||
    differ(of.map(({ kind }) => kind)) ||
    differ(all.map(({ request_id }) => personOf(request_id)))
  )
}
