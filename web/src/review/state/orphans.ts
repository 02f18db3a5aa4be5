/**
 * Drafts whose change or request was decided otherwise: they are offered back, and return to their
 * place once it is open again. Pure, apart from {@link forgetOrphan}.
 */
import type { Hunk } from '../../wire/generated.ts'
import { describeHunkOutcome } from './outcomeSummary.ts'
import { ALL_REQUESTS, type Drafts, type Kind, type Orphan } from './drafts.ts'

/** The change or request, and what was being done. */
function subject(draft: string): { about: string; doing: string } {
  const [about = '', kind = 'edit', ...field] = draft.split(' ')
  return {
    about,
    doing: field.length > 0 ? `editing “${field.join(' ')}”` : (DOING[kind as Kind] ?? DOING.edit),
  }
}

const DOING: Record<Kind, string> = {
  edit: 'editing it',
  input: 'editing it',
  reason: 'writing why not',
  note: 'writing a note',
  answer: 'answering',
}

/** State of the change or request of a draft: the hunk itself, or a description. */
type SubjectOutcome = Hunk | string | undefined

/** The changes and requests that drafts are about, as the screen shows them. */
export interface DraftSubjects {
  /** The changes and requests that can still be decided. */
  open: ReadonlySet<string>
  /** Changes and requests about which a decision made here is on its way. */
  sending: ReadonlySet<string>
  find: (about: string) => SubjectOutcome
  /** Returns whether the last decision about it was made here. */
  isOwn?: (about: string) => boolean
}

/**
 * The drafts once those about something decided are offered back, and those about something that is
 * open again are back in its field.
 */
export function orphaned(drafts: Drafts, subjects: DraftSubjects): Drafts {
  const { open, sending } = subjects
  const isLost = (draft: string) =>
    !open.has(subject(draft).about) && !sending.has(subject(draft).about)
  const kept = Object.entries(drafts.written).filter(([draft]) => !isLost(draft))
  const lost = Object.entries(drafts.written).filter(([draft]) => isLost(draft))
  const back = drafts.orphans.filter(({ id }) => returns(id, open) && !(id in drafts.written))
  if (lost.length + back.length === 0) return drafts
  const orphans = lost
    .filter(([, text]) => text.trim() !== '')
    .map(([id, text]): Orphan => ({ id, text, why: why(id, subjects) }))
  const isNew = (orphan: Orphan) => !orphans.some((other) => isSame(other, orphan))
  // Of several about the same, the newest has its field.
  const written = Object.fromEntries([...back.map(({ id, text }) => [id, text]), ...kept])
  const isBack = (orphan: Orphan) => back.includes(orphan) && written[orphan.id] === orphan.text
  return {
    written,
    orphans: [...drafts.orphans.filter((orphan) => !isBack(orphan) && isNew(orphan)), ...orphans],
  }
}

const isSame = (a: Orphan, b: Orphan): boolean => a.id === b.id && a.text === b.text

/** Words about all suggestions together belong to those that waited then. */
function returns(draft: string, open: ReadonlySet<string>): boolean {
  const { about } = subject(draft)
  return about !== ALL_REQUESTS && open.has(about)
}

function why(draft: string, { find, isOwn }: DraftSubjects): string {
  const { about, doing } = subject(draft)
  const found = find(about)
  if (isOwn?.(about)) return `${ownDecision(found)} These words were not used.`
  const became = typeof found === 'object' ? describeHunkOutcome(found) : found
  return became ? `${became}, while you were ${doing}.` : `Decided while you were ${doing}.`
}

function ownDecision(found: SubjectOutcome): string {
  const status = typeof found === 'object' ? found.status : ''
  return `You ${status === 'accepted' || status === 'rejected' ? status : 'decided'} it.`
}
