/** Accept, edit and reject: in the review bar, and where the panel lies over the bar. */
import type { EditorView } from '@codemirror/view'
import { openDocument } from '../../../document/openDocument.ts'
import { useSession } from '../../../session/store.ts'
import { Icon, type IconName } from '../../../ui/icons.tsx'
import { MOD } from '../../../ui/keyNames.ts'
import type { Hunk } from '../../../wire/generated.ts'
import { acceptActive, editActive, rejectActive } from '../../actions/activeChange.ts'
import { STILL_WRITING } from '../../state/decisionErrors.ts'
import { mayType } from '../../state/permissions.ts'
import { useBusy } from '../../stores/busy.ts'
import { useHasKeptEdit } from '../../stores/keptEdits.ts'
import { useReviewer } from '../../stores/reviewer.ts'

interface Props {
  hunk: Hunk | undefined
  /** "change 2" */
  of: string
  /** True in the panel, with icons and without keys. */
  sheet?: boolean
}

/** One of the buttons; `keys`: it decides, and those do so too. */
interface Decision {
  words: string
  name: string
  keys?: string
  icon: IconName
  look?: string
  act: (view: EditorView) => boolean
}

/** The same buttons whatever becomes of the change, so that none comes to stand under a finger. */
export function DecisionButtons({ hunk, of, sheet = false }: Props) {
  const busy = useBusy((state) => hunk !== undefined && state.ids.has(hunk.id))
  const offline = useSession((session) => session.link !== 'online')
  const types = mayType(useReviewer())
  const isEdited = useHasKeptEdit(hunk)
  const accept = { icon: 'check', keys: `${MOD} ↵`, look: 'is-primary', act: acceptActive } as const
  const decisions: Decision[] = [
    { words: 'Reject', name: `Reject ${of}`, icon: 'cross', keys: `${MOD} ⇧ ↵`, act: rejectActive },
    ...(types
      ? [{ words: 'Edit', name: `Edit ${of}`, icon: 'pencil' as const, act: editActive }]
      : []),
    hunk?.status === 'conflict'
      ? { ...accept, words: 'Look at it', name: `Look at it: ${of}, the text changed` }
      : isEdited
        ? { ...accept, words: 'Accept your edit', name: `Accept your edit of ${of}` }
        : { ...accept, words: 'Accept', name: `Accept ${of}` },
  ]
  const why = offline
    ? 'You can review when you’re back online'
    : hunk?.writing
      ? STILL_WRITING
      : undefined
  return (sheet ? decisions.toReversed() : decisions).map(
    ({ words, name, keys, icon, look, act }) => (
      // A button that is switched off loses the focus, and a decision takes but a moment: pressed
      // again meanwhile it does nothing.
      <button
        key={icon}
        type="button"
        data-decides={keys && ''}
        disabled={offline}
        aria-disabled={busy || hunk?.writing === true}
        className={
          !sheet && !keys ? 'icon-button' : `button ${sheet && look ? 'is-accept' : (look ?? '')}`
        }
        aria-label={name}
        title={why ?? (keys ? undefined : 'Edit before accepting (E)')}
        onClick={() => {
          const view = openDocument()?.view
          if (view) act(view)
        }}
      >
        {(sheet || !keys) && <Icon name={icon} size={sheet ? 13 : 16} />} {(sheet || keys) && words}{' '}
        {!sheet && keys && <kbd data-keys={keys} />}
      </button>
    ),
  )
}
