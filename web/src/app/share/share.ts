/** Who else may come in: what owners ask of the server, and how it is worded. */
import { wire } from '../../session/store.ts'
import type { IssuedToken, IssueToken, Role, TokenLine } from '../../wire/generated.ts'
import { documentPath } from '../routes.ts'

/** What a link of each role lets its holder do. */
export const CAN: Record<Role, string> = {
  owner: 'has full access and can invite or remove people',
  editor: 'can write, ask the AI and decide about changes',
  reviewer: 'can read and decide about changes, but not write',
  viewer: 'can read',
}

/** The same, said to the holder. */
export const YOU_CAN: Record<Role, string> = {
  owner: 'You have full access and can invite or remove people.',
  editor: `You ${CAN.editor}.`,
  reviewer: `You ${CAN.reviewer}.`,
  viewer: `You ${CAN.viewer}.`,
}

export const ROLES: readonly { role: Role; name: string }[] = [
  { role: 'editor', name: 'Editor' },
  { role: 'reviewer', name: 'Reviewer' },
  { role: 'viewer', name: 'Viewer' },
  { role: 'owner', name: 'Owner' },
]

export const EXPIRIES: readonly { expiresIn: string; name: string }[] = [
  { expiresIn: '1d', name: 'In a day' },
  { expiresIn: '7d', name: 'In a week' },
  { expiresIn: '30d', name: 'In 30 days' },
  { expiresIn: 'never', name: 'Never' },
]

export const roleName = (role: Role): string =>
  ROLES.find((other) => other.role === role)?.name ?? role

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

/** Whether an address leads nowhere from another computer. */
export const isLocal = (host: string): boolean =>
  /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(host)

/** Those who can come in now; with a document, those who can open it. */
export function whoHasAccess(lines: readonly TokenLine[], documentId: string | null): TokenLine[] {
  const reaches = (line: TokenLine) =>
    documentId === null || line.documentId == null || line.documentId === documentId
  return lines.filter((line) => line.status === 'active' && reaches(line))
}

/** "until 27 Nov", "no end". */
export function until(at: string | null | undefined, now: number): string {
  if (at == null) return 'no end'
  const date = new Date(at)
  const soon = date.getTime() - now < 36 * 60 * 60_000
  return `until ${soon ? date.toLocaleString([], { weekday: 'short', hour: 'numeric', minute: '2-digit' }) : date.toLocaleDateString([], { day: 'numeric', month: 'short', year: 'numeric' })}`
}

export const issueToken = (wish: IssueToken): Promise<IssuedToken> => wire.call('token:issue', wish)

export const listTokens = async (): Promise<TokenLine[]> =>
  (await wire.call('token:list', {})).tokens

export const revokeToken = (id: string): Promise<object> => wire.call('token:revoke', { id })
