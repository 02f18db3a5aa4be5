/** The rules about work without a document, as far as they are ours to see. */
import { useCallback, useEffect } from 'react'
import { create } from 'zustand'
import { learn } from '../../rules/store.ts'
import { useCapability, useSession, wire } from '../../session/store.ts'
import { CallError } from '../../wire/socket.ts'
import type { Rule } from '../../wire/generated.ts'
import { useInbox } from './store.ts'

interface InboxRuleList {
  rules: readonly Rule[]
  failed: boolean
}
export const useVisibleInboxRules = create<InboxRuleList>()(() => ({ rules: [], failed: false }))

export async function readRules(): Promise<void> {
  try {
    const { rules } = await wire.call('rules:list', {})
    learn(rules)
    // Those of documents are listed there.
    useVisibleInboxRules.setState({
      rules: rules.filter((rule) => rule.documentId === null),
      failed: false,
    })
  } catch (error) {
    if (!(error instanceof CallError)) throw error
    useVisibleInboxRules.setState({ failed: true })
  }
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
  const read = useCallback(() => void readRules(), [])
  useEffect(() => {
    if (supported && online) read()
  }, [supported, online, read, decided])
  return useVisibleInboxRules()
}
