/**
 * The rules about work without a document: those of owners, and what we had remembered ourselves.
 */
import { RuleForm } from '../rules/RuleForm.tsx'
import { RuleList } from '../rules/RuleList.tsx'
import { RULED_IN_INBOX } from '../rules/tools.ts'
import { useCapability, useSession } from '../session/store.ts'
import { readRules, useInboxRules } from './state/rules.ts'
import './InboxRules.css'

export function InboxRules() {
  const supported = useCapability('rules')
  const role = useSession((session) => session.me?.role) ?? 'viewer'
  const { rules, failed } = useInboxRules()
  const isOwner = role === 'owner'
  if (!supported || (rules.length === 0 && !isOwner)) return null
  return (
    <details className="inbox-rules">
      <summary>{rules.length === 0 ? 'Rules' : `Rules (${rules.length})`}</summary>
      <p className="rule-note">
        {rules.length === 0
          ? 'No rules here: reading is answered at once; files to write, new documents and commands need a decision.'
          : 'About files, new documents and commands. The strictest counts: what an owner denied is not even proposed. “Always ask” overrides “Allow”. What is to change in a file that people have open as a document follows the rules there.'}
      </p>
      {failed && (
        <p className="warn-note" role="alert">
          The rules could not be read.{' '}
          <button type="button" className="link" onClick={() => void readRules()}>
            Try again
          </button>
        </p>
      )}
      {rules.length > 0 && (
        <RuleList rules={rules} role={role} onRevoked={() => void readRules()} />
      )}
      {isOwner && <RuleForm place="desk" tools={RULED_IN_INBOX} onAdded={() => void readRules()} />}
    </details>
  )
}
