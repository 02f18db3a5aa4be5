/** One document in the list. */
import type { DocumentLine } from '../wire/generated.ts'
import { documentPath, follow } from '../navigation/routes.ts'
import { isUntouchedSample } from './library.ts'
import { timeAgo } from '../ui/timeFormat.ts'
import { waitingWords } from '../navigation/tabTitle.ts'
import { canWrite } from '../session/roles.ts'
import { Icon } from '../ui/icons.tsx'
import './LibraryLine.css'

export function LibraryLine({
  line,
  onDelete,
  onRename,
}: {
  line: DocumentLine
  onDelete: (line: DocumentLine) => void
  onRename: (line: DocumentLine) => void
}) {
  const path = documentPath(line.id)
  return (
    <li className="document-line">
      <a href={path} onClick={(event) => follow(event, path)}>
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
      </a>
      {canWrite(line.role) && (
        <button
          type="button"
          className="icon-button"
          aria-label={`Rename ${line.title}`}
          title="Rename"
          onClick={() => onRename(line)}
        >
          <Icon name="pencil" />
        </button>
      )}
      {line.role === 'owner' && (
        <button
          type="button"
          className="icon-button"
          aria-label={`Delete ${line.title}`}
          title="Delete"
          onClick={() => onDelete(line)}
        >
          <Icon name="trash" />
        </button>
      )}
    </li>
  )
}
