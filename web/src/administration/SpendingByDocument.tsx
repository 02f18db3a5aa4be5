/** Spending of each document. */
import { useState } from 'react'
import type { DocumentLine, SpendingLine, MonthSpending } from '../wire/generated.ts'
import { LimitForm, LimitButton } from './LimitForm.tsx'
import { callWords, spentOf } from './wording.ts'
import { Link } from '../navigation/Link.tsx'
import { documentPath } from '../navigation/routes.ts'
import './SpendingByDocument.css'

export function ByDocument({ spending, documents, onSet }: SpendingProps) {
  const [chosen, setChosen] = useState<DocumentLine | null>(null)
  const listed = new Set(spending.documents.map(({ id }) => id))
  const others = documents.filter(({ id }) => !listed.has(id))
  return (
    <>
      <h3>By document</h3>
      {spending.documents.length === 0 && <p className="quiet">Nothing was spent this month.</p>}
      <ul className="server-list" aria-label="Spending by document">
        {spending.documents.map((line) => (
          <DocumentSpending key={line.id} line={line} onSet={onSet} />
        ))}
      </ul>
      {chosen === null && others.length > 0 && (
        <label className="other-document">
          <span>Limit another document</span>
          <select
            className="field"
            value=""
            onChange={(event) => {
              const id = event.currentTarget.value
              setChosen(others.find((other) => other.id === id) ?? null)
            }}
          >
            <option value="">Choose a document…</option>
            {others.map(({ id, title }) => (
              <option key={id} value={id}>
                {title}
              </option>
            ))}
          </select>
        </label>
      )}
      {chosen !== null && (
        <div className="other-document">
          <span>{chosen.title}</span>
          <LimitForm
            whose={chosen.title}
            subject={{ for: 'document', id: chosen.id }}
            limit={null}
            onSet={onSet}
            onClose={() => setChosen(null)}
          />
        </div>
      )}
    </>
  )
}

interface Props {
  line: SpendingLine
  onSet: (spending: MonthSpending) => void
}

function DocumentSpending({ line, onSet }: Props) {
  const { id, name, usd, limitUsd } = line
  const title = name ?? 'A removed document'
  return (
    <li>
      <span>
        {id === null ? <b>No document</b> : <Link to={documentPath(id)}>{title}</Link>}
        <span className="quiet">
          {spentOf(usd, limitUsd)} · {callWords(line)}
        </span>
      </span>
      {id !== null && (
        <LimitButton
          whose={title}
          subject={{ for: 'document', id }}
          limit={limitUsd}
          onSet={onSet}
        />
      )}
    </li>
  )
}

export interface SpendingProps {
  spending: MonthSpending
  documents: readonly DocumentLine[]
  onSet: (spending: MonthSpending) => void
}
