/**
 * The rules of the open document, behind a button that is there when there are some, and always for
 * owners.
 */
import { useState } from 'react'
import { useOpenDocumentFields } from '../document/useOpenDocument.ts'
import { useCapability } from '../session/store.ts'
import { Button } from '../ui/Button.tsx'
import { Dialog } from '../ui/Dialog.tsx'
import { Icon } from '../ui/icons.tsx'
import { RuleForm } from './RuleForm.tsx'
import { RuleList } from './RuleList.tsx'
import { useRules, useRulesOf } from './store.ts'
import { RULED_IN_DOCUMENTS } from './tools.ts'
import './Rules.css'

export function Rules() {
  const { id, role } = useOpenDocumentFields('id', 'role')
  const supported = useCapability('rules')
  useRulesOf(id)
  const rules = useRules((state) => state.rules)
  const [open, setOpen] = useState(false)
  const isOwner = role === 'owner' && supported
  return (
    <>
      {(rules.length > 0 || isOwner) && (
        <Button
          look="quiet"
          className="rules-open"
          aria-haspopup="dialog"
          title="What is accepted without asking, always asked about, or denied"
          onClick={() => setOpen(true)}
        >
          <Icon name="rules" size={14} /> {rules.length === 0 ? 'Rules' : `Rules (${rules.length})`}
        </Button>
      )}
      {open && (
        <Dialog title="Rules" onClose={() => setOpen(false)}>
          {rules.length === 0 ? (
            <p className="rule-note">No rules: every change needs a decision.</p>
          ) : (
            <>
              <p className="rule-note">
                What rules allow goes into this document at once, in the name of whoever made them.
                It is marked in the conversation and can be undone there. What an owner denied is
                not even proposed. “Always ask” overrides “Allow”.
              </p>
              <RuleList rules={rules} role={role} />
            </>
          )}
          {isOwner && id !== null && <RuleForm place={id} tools={RULED_IN_DOCUMENTS} />}
        </Dialog>
      )}
    </>
  )
}
