/** The rules of the open document, behind a button that is only there when there are some. */
import { useState } from 'react'
import { useDocument } from '../editor/store.ts'
import { useSession } from '../session/store.ts'
import { Dialog } from '../ui/Dialog.tsx'
import { Icon } from '../ui/icons.tsx'
import { ago, many } from '../ui/when.ts'
import type { Rule } from '../wire/types.ts'
import { revokeRule, useRules, useRulesOf } from './store.ts'
import { allowed, mayRevoke, reach } from './wording.ts'

export function Rules() {
  const id = useDocument((state) => state.id)
  useRulesOf(id)
  const rules = useRules((state) => state.rules)
  const [open, setOpen] = useState(false)
  return (
    <>
      {rules.length > 0 && (
        <button type="button" className="button is-quiet rules-open" aria-haspopup="dialog" title="What is accepted without asking" onClick={() => setOpen(true)}>
          <Icon name="clock" size={13} /> {many(rules.length, 'rule')}
        </button>
      )}
      {open && (
        <Dialog title="Accepted without asking" onClose={() => setOpen(false)}>
          {rules.length === 0 ? (
            <p className="rule-note">There are no rules. Every change waits for somebody.</p>
          ) : (
            <>
              <p className="rule-note">What these rules allow goes into this document at once, in the name of whoever made them. It is marked in the conversation and can be undone there.</p>
              <ul className="rules" aria-label="Rules">
                {rules.map((rule) => <Line key={rule.id} rule={rule} />)}
              </ul>
            </>
          )}
        </Dialog>
      )}
    </>
  )
}

function Line({ rule }: { rule: Rule }) {
  const { link, me } = useSession()
  const role = useDocument((state) => state.role)
  const what = allowed(rule.tool, rule.remember)
  const mine = rule.by.id === me?.user.id
  return (
    <li>
      <p>
        <b>{what}</b>
        <span>{reach(rule.remember, 'the person who asked')} · {mine ? 'your rule' : `by ${rule.by.name}`} · {ago(rule.createdAt, Date.now())}</span>
      </p>
      {mayRevoke(rule, me?.user.id, role) && (
        <button type="button" className="button" disabled={link !== 'online'} aria-label={`Revoke: ${what}`} onClick={() => void revokeRule(rule.id)}>Revoke</button>
      )}
    </li>
  )
}
