/** Spending on models in this month, by document, with the limits beside it. */
import { useState } from 'react'
import { Link } from '../navigation/Link.tsx'
import { documentPath } from '../navigation/routes.ts'
import { plural } from '../ui/timeFormat.ts'
import type { DocumentLine, MonthSpending, SpendingLine } from '../wire/generated.ts'
import { LimitButton, LimitForm } from './LimitForm.tsx'
import { callWords, monthName, spentOf } from './wording.ts'
import './SpendingSection.css'

interface Props {
  spending: MonthSpending
  documents: readonly DocumentLine[]
  onSet: (spending: MonthSpending) => void
}

export function SpendingSection({ spending, documents, onSet }: Props) {
  const { month, usd, limitUsd, personLimitUsd, renewsAt } = spending
  const renewal = new Date(renewsAt).toLocaleDateString('en-GB', {
    day: 'numeric',
    month: 'long',
    timeZone: 'UTC',
  })
  const isOver = limitUsd !== null && usd >= limitUsd
  return (
    <section className="server-section" aria-labelledby="server-spending">
      <h2 id="server-spending">Spending in {monthName(month)}</h2>
      <p className="server-sum">
        <b>{spentOf(usd, limitUsd)}</b>
        <span className="quiet">Limits renew on {renewal}, 00:00 UTC.</span>
      </p>
      {limitUsd !== null && limitUsd > 0 && (
        <meter
          aria-label="Part of the server’s limit that is spent"
          min={0}
          max={limitUsd}
          value={Math.min(usd, limitUsd)}
        />
      )}
      {isOver && (
        <p className="warn-note" role="status">
          The limit of the server is reached: no model that costs something is asked any more.
        </p>
      )}
      <ul className="server-list">
        <li>
          <span>Limit of the whole server</span>
          <LimitButton
            whose="the whole server"
            subject={{ for: 'server' }}
            limit={limitUsd}
            onSet={onSet}
          />
        </li>
        <li>
          <span>Default limit per person</span>
          <LimitButton
            whose="each person"
            subject={{ for: 'everyone' }}
            limit={personLimitUsd}
            onSet={onSet}
          />
        </li>
      </ul>
      <ByDocument spending={spending} documents={documents} onSet={onSet} />
      {spending.unpriced.map(({ model, calls }) => (
        <p key={model} className="warn-note">
          No price is known for {model}: {plural(calls, 'call')} of it count as nothing. Add its
          price to the server’s list of prices.
        </p>
      ))}
    </section>
  )
}

function ByDocument({ spending, documents, onSet }: Props) {
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

function DocumentSpending({ line, onSet }: Pick<Props, 'onSet'> & { line: SpendingLine }) {
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
