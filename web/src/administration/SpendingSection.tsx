/** Spending on models in this month, by document, with the limits beside it. */
import { plural } from '../ui/timeFormat.ts'
import { LimitButton } from './LimitForm.tsx'
import { monthName, spentOf } from './wording.ts'
import { ByDocument, type SpendingProps } from './SpendingByDocument.tsx'
import './SpendingSection.css'

export function SpendingSection({ spending, documents, onSet }: SpendingProps) {
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
