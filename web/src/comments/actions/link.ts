/** Links to a thread: `/d/ID#comment=THREAD`. */
import { documentPath } from '../../navigation/routes.ts'

const FRAGMENT = '#comment='

export const linkedThread = (hash: string): string | null =>
  hash.startsWith(FRAGMENT) ? decodeURIComponent(hash.slice(FRAGMENT.length)) : null

export const linkTo = (origin: string, documentId: string, threadId: string): string =>
  `${origin}${documentPath(documentId)}${FRAGMENT}${encodeURIComponent(threadId)}`
