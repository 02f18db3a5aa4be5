/** The rules about work without a document, as far as they are ours to see. */
import { useEffect } from 'react'
import { create } from 'zustand'
import { learn } from '../../rules/store.ts'
import { attempt } from '../../session/attempt.ts'
import { useCapability, useSession, wire } from '../../session/store.ts'
import type { Rule } from '../../wire/generated.ts'
import { useInbox } from './store.ts'

interface InboxRuleList {
  rules: readonly Rule[]
  failed: boolean
}
export const useVisibleInboxRules = create<InboxRuleList>()(() => ({ rules: [], failed: false }))

export async function readRules(): Promise<void> {
  const list = await attempt(wire.call('rules:list', {}), () =>
    useVisibleInboxRules.setState({ failed: true }),
  )
  if (!list) return
  learn(list.rules)
  // Those of documents are listed there.
  const rules = list.rules.filter((rule) => rule.documentId === null)
  useVisibleInboxRules.setState({ rules, failed: false })
}

/**
 * Reads them while the desk is open; once more when an unknown rule has decided, for new ones are
 * not announced.
 */
export function useInboxRules(): InboxRuleList {
  const supported = useCapability('rules')
  const online = useSession((session) => session.link === 'online')
  const known = useVisibleInboxRules(({ rules }) => rules)
  const decided = useInbox(({ requests }) =>
    Object.values(requests)
      .flatMap(({ rule }) => (rule === null || known.some(({ id }) => id === rule) ? [] : [rule]))
      .toSorted()
      .join(' '),
  )
  useEffect(() => {
    if (supported && online) void readRules()
  }, [supported, online, decided])
  return useVisibleInboxRules()
}
