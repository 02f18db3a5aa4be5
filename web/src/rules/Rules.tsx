/** The rules of the open document, behind a button that is there when there are some, and always for owners. */
import { useState } from 'react'
import { DOCUMENT_TOOLS, toolName } from '../chat/tools.ts'
import { useDocument } from '../editor/store.ts'
import { useCapability, useSession } from '../session/store.ts'
import { Dialog } from '../ui/Dialog.tsx'
import { Icon } from '../ui/icons.tsx'
import { ago, many } from '../ui/when.ts'
import type { Rule } from '../wire/types.ts'
import { addRule, revokeRule, useRules, useRulesOf } from './store.ts'
import { type Choice, mayRevoke, reach, ruleOf, ruleWords } from './wording.ts'

export function Rules() {
  const { id, role } = useDocument()
  const supported = useCapability('rules')
  useRulesOf(id)
  const rules = useRules((state) => state.rules)
  const [open, setOpen] = useState(false)
  const isOwner = role === 'owner' && supported
  return (
    <>
      {(rules.length > 0 || isOwner) && (
        <button type="button" className="button is-quiet rules-open" aria-haspopup="dialog" title="What is accepted without asking, always asked about, or denied" onClick={() => setOpen(true)}>
          <Icon name="clock" size={13} /> {rules.length === 0 ? 'rules' : many(rules.length, 'rule')}
        </button>
      )}
      {open && (
        <Dialog title="Rules" onClose={() => setOpen(false)}>
          {rules.length === 0 ? (
            <p className="rule-note">There are no rules. Every change waits for somebody.</p>
          ) : (
            <>
              <p className="rule-note">What rules allow goes into this document at once, in the name of whoever made them. It is marked in the conversation and can be undone there. What an owner denied is not even proposed; to ask comes before any rule that allows.</p>
              <ul className="rules" aria-label="Rules">
                {rules.map((rule) => <Line key={rule.id} rule={rule} />)}
              </ul>
            </>
          )}
          {isOwner && id !== null && <Add documentId={id} />}
        </Dialog>
      )}
    </>
  )
}

function Line({ rule }: { rule: Rule }) {
  const { link, me } = useSession()
  const role = useDocument((state) => state.role)
  const what = ruleWords(rule)
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

const NEW: Choice = { effect: 'ask', tool: '', size: '' }

/** An owner denies, wants to be asked, or allows. */
function Add({ documentId }: { documentId: string }) {
  const offline = useSession((session) => session.link !== 'online')
  const [choice, setChoice] = useState(NEW)
  const [refusal, setRefusal] = useState<string | null>(null)
  const rule = ruleOf(documentId, choice)
  const change = (more: Partial<Choice>) => setChoice({ ...choice, ...more })
  const add = async () => {
    if (rule === null) return
    const said = await addRule(rule)
    setRefusal(said)
    if (said === null) setChoice(NEW)
  }
  return (
    <form className="rule-add" aria-label="New rule" onSubmit={(event) => { event.preventDefault(); void add() }}>
      <select className="field" aria-label="What the rule does" value={choice.effect} onChange={(event) => change({ effect: event.currentTarget.value as Choice['effect'] })}>
        <option value="deny">Deny</option>
        <option value="ask">Always ask about</option>
        <option value="allow">Allow</option>
      </select>
      <select className="field" aria-label="Tool" value={choice.tool} onChange={(event) => change({ tool: event.currentTarget.value })}>
        <option value="">{choice.effect === 'allow' ? 'Choose a tool' : 'every tool'}</option>
        {DOCUMENT_TOOLS.map((tool) => <option key={tool} value={tool}>{toolName(tool)}</option>)}
      </select>
      <label>{choice.effect === 'allow' ? 'up to' : 'above'}{' '}
        <input className="field" inputMode="numeric" size={7} placeholder="any" value={choice.size} onChange={(event) => change({ size: event.currentTarget.value })} /> characters
      </label>
      <button type="submit" className="button" disabled={offline || rule === null}>Add rule</button>
      {refusal && <p className="warn-note" role="alert">{refusal}</p>}
    </form>
  )
}
