/** Modes of a document: editing, suggesting and reading. */
import type { Role } from '../wire/generated.ts'
import { keep, readKept } from '../session/browserStorage.ts'
import { canComment, canWrite } from '../session/roles.ts'
import { useSession } from '../session/store.ts'
import { toast } from '../ui/toasts.ts'
import { allSent } from './allSent.ts'
import { openDocument } from './openDocument.ts'
import { useOpenDocument } from './useOpenDocument.ts'

export type Mode = 'editing' | 'suggesting' | 'reading'

/** Modes that a role has, the usual one first. A reviewer decides, and suggests by choice. */
export function modesOf(role: Role): readonly Mode[] {
  if (!canComment(role)) return ['reading']
  if (canWrite(role)) return ['editing', 'suggesting', 'reading']
  return role === 'suggester' ? ['suggesting', 'reading'] : ['reading', 'suggesting']
}

const keyOf = (documentId: string): string =>
  `copydesk:mode:${useSession.getState().me?.user.id ?? ''}:${documentId}`

/** Returns the mode that the person chose last in a document, if their role has it. */
export function rememberedMode(documentId: string, role: Role): Mode {
  const modes = modesOf(role)
  const kept = readKept(keyOf(documentId))
  return modes.find((mode) => mode === kept) ?? modes[0]!
}

/** Fetches what suggesting needs, so that it is there when it is chosen. */
export const prefetchSuggesting = (): void => void import('./suggester.ts').catch(() => undefined)

/** Goes into another mode of the open document, once everything typed has arrived. */
export async function chooseMode(mode: Mode): Promise<void> {
  if (!(await allSent())) return toast('Wait until everything typed is saved, then try again.')
  const document = openDocument()
  if (!document || useOpenDocument.getState().mode === mode) return
  keep(keyOf(document.id), mode)
  useOpenDocument.setState({ mode })
  document.enter(mode)
}
