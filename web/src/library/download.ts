/** Fetching a document as a file. The token travels in a header, so a plain link would not do. */
import { credentials } from '../session/store.ts'
import { reason } from '../session/http.ts'

export type Format = 'md' | 'docx' | 'criticmarkup' | 'html' | 'json'

export const FORMATS: readonly { format: Format; name: string; what: string }[] = [
  { format: 'docx', name: 'Word', what: 'Pending changes are tracked changes' },
  { format: 'md', name: 'Markdown', what: 'The text as it is' },
  {
    format: 'criticmarkup',
    name: 'CriticMarkup',
    what: 'Markdown with the pending changes marked',
  },
  { format: 'html', name: 'Web page', what: 'The text as it is, in one file' },
  { format: 'json', name: 'JSON', what: 'For programs: text, version and requests' },
]

/** Gets the file and hands it to the browser to keep. */
export async function download(document: string, format: Format): Promise<void> {
  const address = `/api/v1/documents/${encodeURIComponent(document)}/export?format=${format}`
  const answer = await fetch(address, { headers: credentials(), cache: 'no-store' }).catch(() => {
    throw new Error('The server isn’t answering.')
  })
  if (!answer.ok) {
    const detail = await reason(answer)
    throw new Error(
      detail ? `Not exported: ${detail}.` : 'The document could not be saved as a file.',
    )
  }
  save(
    await answer.blob(),
    fileName(answer.headers.get('Content-Disposition')) ?? `document.${format}`,
  )
}

/** The name the server gave the file (RFC 6266), without anything that could be a folder. */
export function fileName(disposition: string | null): string | undefined {
  const encoded = /filename\*=UTF-8''([^;]+)/i.exec(disposition ?? '')?.[1]
  if (encoded === undefined) return undefined
  try {
    return decodeURIComponent(encoded).replace(/[/\\]/g, '-')
  } catch {
    return undefined
  }
}

function save(content: Blob, name: string): void {
  const link = window.document.createElement('a')
  link.href = URL.createObjectURL(content)
  link.download = name
  link.click()
  // The browser has begun to read it by the next task.
  setTimeout(() => URL.revokeObjectURL(link.href), 1_000)
}
