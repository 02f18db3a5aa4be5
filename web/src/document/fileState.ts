/**
 * A document that is a file too: words that another program wrote into it came in, or it cannot
 * follow.
 */
import { toast } from '../ui/toasts.ts'
import { plural } from '../ui/timeFormat.ts'
import type { DocumentFile, FileState } from '../wire/generated.ts'
import { useOpenDocument } from './useOpenDocument.ts'

export function receiveFileState({ file, merged }: DocumentFile): void {
  const before = useOpenDocument.getState().file
  useOpenDocument.setState(({ overruled }) => ({
    file,
    overruled: [...overruled, ...(merged?.kept ?? [])],
  }))
  if (merged?.kept.length === 0) toast('Changed on disk: merged', { about: 'file' })
  else if (before?.status === 'failed' && file.status === 'saved')
    toast('The file on disk follows again', { about: 'file' })
}

/** The message about the file for as long as it is so; nothing where all is well. */
export function fileStateMessage({ path, status, reason }: FileState): string | undefined {
  if (status === 'missing')
    return `${path} is no longer on disk. It is made again when somebody writes.`
  if (status === 'failed')
    return `The file on disk does not follow: ${reason ?? 'it cannot be written'}. Your words are kept here.`
  return undefined
}

export function wordsOfOverruled(count: number): string {
  return `The file on disk was changed too, in ${plural(count, 'place')} that people had changed. What people wrote stays.`
}
