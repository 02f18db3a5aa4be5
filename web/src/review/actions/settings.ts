/** A document's review settings: changed by its owner, sent to everyone by the server. */
import { openDocument } from '../../document/openDocument.ts'
import { wire } from '../../session/store.ts'
import type { CallError } from '../../wire/socket.ts'
import { toast } from '../../ui/toasts.ts'
import { attempt } from '../../session/attempt.ts'
import type {
  ChangeSettings,
  DecisionPolicy,
  ModelAccessKind,
  SetSettings,
} from '../../wire/generated.ts'

export const POLICIES: readonly { policy: DecisionPolicy; name: string; what: string }[] = [
  { policy: 'any', name: 'Anyone who may review', what: 'The first decision on a change counts.' },
  {
    policy: 'not_requester',
    name: 'Someone else',
    what: 'Anyone except the person who asked.',
  },
  {
    policy: 'two',
    name: 'Two people',
    what: 'A change lands once two different people have accepted it.',
  },
  { policy: 'owner', name: 'Only an owner', what: 'Others can read suggestions, not decide them.' },
]

export const MODEL_ACCESS: readonly { allow: ModelAccessKind; name: string; what: string }[] = [
  { allow: 'any', name: 'Any model', what: 'Every model that this server offers.' },
  {
    allow: 'local',
    name: 'Only models on this machine',
    what: 'The built-in editor, and models on the server itself. The text is sent to no other computer.',
  },
  { allow: 'named', name: 'Only these models', what: 'Every other model is refused.' },
]

/** Seconds people have, the document's own first if it is another. */
export function timeLimits(now: number): [seconds: number, name: string][] {
  const usual: [number, string][] = [
    [60, '1 minute'],
    [300, '5 minutes'],
    [1_800, '30 minutes'],
    [86_400, '1 day'],
    [0, 'No limit'],
  ]
  return usual.some(([seconds]) => seconds === now) ? usual : [[now, `${now} seconds`], ...usual]
}

/** Answers what the server said against it, if it did. */
export async function configure(wish: Omit<ChangeSettings, 'documentId'>): Promise<string | null> {
  const current = openDocument()
  if (!current) return null
  const answer = wire.call('document:settings', { documentId: current.id, ...wish })
  const refusal = await refusalOf(answer, ({ code, message }) => {
    if (wish.policy === 'two' && code === 'invalid_payload')
      return 'Two people can only agree where at least two could decide. Give a second person a token that may review this document, then choose this again.'
    return code === 'not_allowed' ? 'Only an owner changes these settings.' : message
  })
  if (refusal !== null && !wish.policy && !wish.modelAccess) toast(refusal)
  return refusal
}

/** Changes the server's own settings. Returns what the server said against it, if it did. */
export const configureServer = (wish: SetSettings): Promise<string | null> =>
  refusalOf(wire.call('settings:set', wish))

/** Awaits an answer of the server; returns the reason of a refusal in words, `null` without one. */
async function refusalOf(
  answer: Promise<unknown>,
  words: (error: CallError) => string = ({ message }) => message,
): Promise<string | null> {
  let refusal: string | null = null
  await attempt(answer, (error) => (refusal = words(error)))
  return refusal
}
