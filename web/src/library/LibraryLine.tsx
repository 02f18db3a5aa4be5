/** One document in the list. */
import type { DocumentLine } from '../wire/generated.ts'
import { Link } from '../navigation/Link.tsx'
import { documentPath } from '../navigation/routes.ts'
import { isUntouchedSample } from './library.ts'
import { timeAgo } from '../ui/timeFormat.ts'
import { waitingWords } from '../navigation/tabTitle.ts'
import { mentionWords, useMentions } from '../session/mentions.ts'
import { canWrite } from '../session/roles.ts'
import { IconButton } from '../ui/Button.tsx'
import './LibraryLine.css'

interface Props {
  line: DocumentLine
  onDelete: (line: DocumentLine) => void
  onRename: (line: DocumentLine) => void
}

export function LibraryLine({ line, onDelete, onRename }: Props) {
  const mentions = useMentions(({ counts }) => counts[line.id] ?? 0)
  return (
    <li className="document-line">
      <Link to={documentPath(line.id)}>
        <span dir="auto">{line.title || 'Untitled'}</span>
        <span>
          {isUntouchedSample(line) ? (
            <>
              Sample — try <b>Fix the grammar</b>
            </>
          ) : (
            <>
              {line.path && 'File · '}Changed {timeAgo(line.updatedAt, Date.now())}
            </>
          )}
        </span>
        {line.waiting > 0 && (
          <span className={`waiting-count ${line.waitingForYou > 0 ? '' : 'is-calm'}`}>
            {waitingWords({ mine: line.waitingForYou, all: line.waiting })}
          </span>
        )}
        {mentions > 0 && <span className="mention-count">{mentionWords(mentions)}</span>}
      </Link>
      {canWrite(line.role) && (
        <IconButton
          label={`Rename ${line.title}`}
          title="Rename"
          name="pencil"
          onClick={() => onRename(line)}
        />
      )}
      {line.role === 'owner' && (
        <IconButton
          label={`Delete ${line.title}`}
          title="Delete"
          name="trash"
          onClick={() => onDelete(line)}
        />
      )}
    </li>
  )
}
