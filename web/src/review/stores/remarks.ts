/** Remarks on fast accepts of changed meanings; a person can turn them off, in this browser. */
import { keep, readKept } from '../../session/browserStorage.ts'
import { useSession } from '../../session/store.ts'
import { type Accept, hurriedIn, withAccept } from '../state/streak.ts'
import { usePanel } from './panel.ts'

let streak: readonly Accept[] = []

const key = (): string => `copydesk:no-remarks:${useSession.getState().me?.user.id ?? ''}`

export const hasRemarks = (): boolean => readKept(key()) === null

export function setRemarks(on: boolean): void {
  keep(key(), on ? null : 'true')
  usePanel.setState({ remark: null })
}

/** Begins to count anew. */
export function forgetAccepts(): void {
  streak = []
}

export function noteAccept(accept: Accept): void {
  streak = withAccept(streak, accept)
  const hurried = hurriedIn(streak)
  if (hurried.length > 0 && hasRemarks()) usePanel.setState({ remark: hurried })
}
