/** Rules in force, each with what it does, for whom and whose it is, and the way to end it. */
import { useSession } from '../session/store.ts'
import { Button } from '../ui/Button.tsx'
import { timeAgo } from '../ui/timeFormat.ts'
import type { Rule } from '../wire/generated.ts'
import { revokeRule } from './store.ts'
import { mayRevoke, reach, ruleWords } from './wording.ts'

interface Props {
  rules: readonly Rule[]
  /** Ours, where the rules hold. */ role: string
  onRevoked?: () => void
}

export function RuleList({ rules, role, onRevoked }: Props) {
  const { link, me } = useSession()
  return (
    <ul className="rules" aria-label="Rules">
      {rules.map((rule) => {
        const what = ruleWords(rule)
        return (
          <li key={rule.id}>
            <p>
              <b>{what}</b>
              <span>
                {reach(rule.remember, rule.author?.name ?? 'the person who asked')} ·{' '}
                {rule.by.id === me?.user.id ? 'your rule' : `by ${rule.by.name}`} ·{' '}
                {timeAgo(rule.createdAt, Date.now())}
              </span>
            </p>
            {mayRevoke(rule, me?.user.id, role) && (
              <Button
                disabled={link !== 'online'}
                aria-label={`Revoke: ${what}`}
                onClick={() => void revokeRule(rule.id).then(onRevoked)}
              >
                Revoke
              </Button>
            )}
          </li>
        )
      })}
    </ul>
  )
}
