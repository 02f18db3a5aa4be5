/** Access of other people in words, and the people whom an owner means. */
import { timeAgo } from '../ui/timeFormat.ts'
import type {
  DocumentRoleLine,
  IssuedToken,
  LoginLine,
  Role,
  TokenLine,
} from '../wire/generated.ts'
import { documentPath } from '../navigation/routes.ts'

/** Rights of a link of each role. */
export const CAN: Record<Role, string> = {
  owner: 'has full access and can invite or remove people',
  editor: 'can write, ask the AI and decide about changes',
  reviewer: 'can read and decide about changes, but not write',
  suggester: 'can read, comment and suggest changes',
  viewer: 'can read',
  guest: 'can open the documents that were shared with them',
}

/** The same, said to the holder. */
export const YOU_CAN: Record<Role, string> = {
  owner: 'You have full access and can invite or remove people.',
  editor: `You ${CAN.editor}.`,
  reviewer: `You ${CAN.reviewer}.`,
  suggester: `You ${CAN.suggester}.`,
  viewer: `You ${CAN.viewer}.`,
  guest: 'You can open the documents that were shared with you.',
}

export const ROLES: readonly (readonly [Role, string])[] = [
  ['editor', 'Editor'],
  ['reviewer', 'Reviewer'],
  ['suggester', 'Suggester'],
  ['viewer', 'Viewer'],
  ['owner', 'Owner'],
]

/** Roles that people and groups can be given in one document. */
export const DOCUMENT_ROLES = ROLES.filter(([role]) => role !== 'owner')

export const EXPIRIES: readonly (readonly [string, string])[] = [
  ['1d', 'In a day'],
  ['7d', 'In a week'],
  ['30d', 'In 30 days'],
  ['never', 'Never'],
]

/** Documents that a link reaches. */
export const REACHES = [
  ['one', 'This document'],
  ['all', 'All documents'],
] as const

export const roleName = (role: Role): string =>
  ROLES.find(([other]) => other === role)?.[1] ?? 'Guest'

/**
 * A link that opens where it was made, as this page is reached; the secret stays behind the `#`,
 * which is never sent.
 */
export function linkOf(
  issued: Pick<IssuedToken, 'url'>,
  origin: string,
  documentId: string | null,
): string {
  const { hash } = new URL(issued.url, origin)
  return `${origin}${documentId === null ? '/' : documentPath(documentId)}${hash}`
}

/** Returns when a person with access was here; `here`: the people in the document now. */
export function lastHere(
  { user, current, lastUsedAt }: TokenLine,
  here: ReadonlySet<string>,
  now: number,
): string {
  if (current || here.has(user)) return 'here now'
  return lastUsedAt == null ? 'not opened yet' : `last seen ${timeAgo(lastUsedAt, now)}`
}

/** Returns whether an address leads nowhere from another computer. */
export const isLocal = (host: string): boolean =>
  /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(host)

/**
 * Returns the people with access now; with a document, those who can open it by their token. Guests
 * open what was shared with them, which is listed apart.
 */
export function whoHasAccess(lines: readonly TokenLine[], documentId: string | null): TokenLine[] {
  const reaches = (line: TokenLine) =>
    documentId === null ||
    (line.role !== 'guest' && (line.documentId == null || line.documentId === documentId))
  return lines.filter((line) => line.status === 'active' && reaches(line))
}

/** "until 27 Nov", "never expires". */
export function until(at: string | null | undefined, now: number): string {
  if (at == null) return 'never expires'
  const date = new Date(at)
  const soon = date.getTime() - now < 36 * 60 * 60_000
  return `until ${soon ? date.toLocaleString([], { weekday: 'short', hour: 'numeric', minute: '2-digit' }) : date.toLocaleDateString([], { day: 'numeric', month: 'short', year: 'numeric' })}`
}

/** The person or group to whom a role is given. */
export type Grantee = { login: string } | { email: string } | { group: string }

export type GranteeKind = 'person' | 'group'

/**
 * Returns the person or group that an owner means: a person by their mail address, or by their name
 * as it was offered where the provider has no address; a group by its name. Null while none can be
 * meant.
 */
export function granteeOf(
  kind: GranteeKind,
  text: string,
  logins: readonly LoginLine[],
): Grantee | null {
  const name = text.trim()
  if (name === '') return null
  if (kind === 'group') return { group: name }
  if (/^\S+@\S+$/.test(name)) return { email: name }
  const known = logins.filter((login) => login.email == null && login.name === name)
  return known.length === 1 && known[0] ? { login: known[0].id } : null
}

/** The same of a line in the list. */
export function granteeOfLine({ login, email, group }: DocumentRoleLine): Grantee {
  if (login != null) return { login }
  return email == null ? { group: group ?? '' } : { email }
}

/** Returns the subject of a line, and the facts about it: a name and an address, or a group. */
export function granteeWords({ name, email, group, login }: DocumentRoleLine): {
  title: string
  facts: string
} {
  if (group != null) return { title: group, facts: 'Group' }
  if (email != null)
    return { title: name ?? email, facts: name == null ? 'Has not signed in yet' : email }
  return { title: name ?? login ?? '', facts: 'Person' }
}
