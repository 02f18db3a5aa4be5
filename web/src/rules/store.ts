/**
 * Rules that the server sent; those of the open document are what people have approved there in
 * advance.
 */
import { useEffect } from 'react'
import { create } from 'zustand'
import { hasCapability, useSession, wire } from '../session/store.ts'
import { attempt } from '../session/attempt.ts'
import { toast } from '../ui/toasts.ts'
import type { AddRule, Person, ToolApprovalResolved, Rule } from '../wire/generated.ts'
import { whoseRule } from '../review/state/whoseRule.ts'

interface Rules {
  /** Of the open document. */
  rules: readonly Rule[]
  /**
   * All that we ever heard of, by id: what a rule decided is said in its words also once it is
   * revoked.
   */
  known: Readonly<Record<string, Rule>>
}

export const useRules = create<Rules>()(() => ({ rules: [], known: {} }))

/** Remembers what rules say. */
export function learn(rules: readonly Rule[]): void {
  useRules.setState(({ known }) => ({
    known: { ...known, ...Object.fromEntries(rules.map((rule) => [rule.id, rule])) },
  }))
}

function follow(rules: readonly Rule[]): void {
  learn(rules)
  useRules.setState({ rules })
}

/** Follows the rules of a document, and says so when one of them has just accepted something. */
export function useRulesOf(id: string | null): void {
  const online = useSession((session) => session.link === 'online')
  useEffect(() => {
    useRules.setState({ rules: [] })
    if (id === null || !online || !hasCapability('rules')) return
    const stops = [
      wire.on('rules:changed', ({ documentId, rules }) => {
        if (documentId === id) follow(rules)
      }),
      wire.on('tool_approval_resolved', (done) => {
        if (done.document_id === id && done.rule !== null) announce(done)
      }),
    ]
    // Without the list, `rules:changed` still tells every change.
    void attempt(wire.call('rules:list', { documentId: id }), () => undefined).then(
      (list) => list && follow(list.rules),
    )
    return () => stops.forEach((stop) => stop())
  }, [id, online])
}

/** The words changed without anybody having been asked just now. */
function announce({ by, hunks }: ToolApprovalResolved): void {
  const accepted = hunks.filter((hunk) => hunk.status === 'accepted').length
  const changes = accepted === 1 ? '1 change was' : `${accepted} changes were`
  toast(`${changes} accepted by ${whoseRule(by, useSession.getState().me?.user.id)}.`, {
    about: 'rule',
  })
}

/** Everybody whom a rule can be about, for owners; others get no list. */
export async function peopleWhoAsk(): Promise<Person[]> {
  const { tokens } = (await attempt(wire.call('token:list', {}), () => undefined)) ?? { tokens: [] }
  const active = tokens.filter(({ status, role }) => status === 'active' && role !== 'viewer')
  const names = new Map(active.map(({ user, name }) => [user, name]))
  return Array.from(names, ([id, name]) => ({ id, name }))
}

/** Answers what the server said against it, if it did. */
export async function addRule(rule: AddRule): Promise<string | null> {
  let said: string | null = null
  await attempt(wire.call('rules:add', rule), ({ code, message }) => {
    said = code === 'not_allowed' ? 'Only an owner makes such rules.' : message
  })
  return said
}

export async function revokeRule(id: string): Promise<void> {
  await attempt(wire.call('rules:revoke', { id }), ({ code, message }) =>
    toast(code === 'already_resolved' ? 'Somebody has already revoked this rule.' : message),
  )
}
