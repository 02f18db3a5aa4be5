/** Markdown that the server makes of pasted HTML and of dropped files. */
import { useSession } from '../../session/store.ts'
import { reportWords } from '../../ui/importReport.ts'
import { toast } from '../../ui/toasts.ts'
import type { ConvertedHtml } from '../../wire/generated.ts'
import { post, Refused } from '../../session/http.ts'
import { openDocument } from '../../document/openDocument.ts'

/** Longer HTML than the server takes, in bytes. */
const LONGEST_HTML = 4 * 1024 * 1024
/** After that, words that were pasted come in as they are. */
const PATIENCE_MS = 2_000

export const isImportable = ({ name }: File): boolean =>
  /\.(docx|md|markdown|txt|html?)$/i.test(name)

/** The words of HTML with their structure; its plain text where that cannot be had in time. */
export async function htmlAsMarkdown(html: string, plain: string): Promise<string> {
  const without = (why: string) => {
    toast(`Pasted as plain text: ${why}.`, { about: 'paste' })
    return plain
  }
  if (useSession.getState().link !== 'online') return without('you are offline')
  const body = new Blob([html])
  if (body.size > LONGEST_HTML) return without('it is longer than 4 MB')
  const patience = AbortSignal.timeout(PATIENCE_MS)
  try {
    return (await convert(body, 'text/html; charset=utf-8', '', patience)) || plain
  } catch (error) {
    if (patience.aborted) return without('the server took too long')
    return without(error instanceof Refused ? error.message : 'it could not be read')
  }
}

/** The text of a file; `null`: it cannot be had, and the reason was said. */
export async function fileAsMarkdown(file: File): Promise<string | null> {
  try {
    return await convert(file, file.type || 'application/octet-stream', file.name)
  } catch (error) {
    const why = error instanceof Refused ? error.message : 'it could not be read'
    toast(`${file.name} wasn’t put in: ${why}.`)
    return null
  }
}

/** Says what was left out. */
async function convert(
  body: Blob,
  type: string,
  name: string,
  signal?: AbortSignal,
): Promise<string> {
  const document = openDocument()?.id
  if (document === undefined) throw new Refused('no document is open')
  const query = name ? `?${new URLSearchParams({ name })}` : ''
  const path = `documents/${encodeURIComponent(document)}/convert${query}`
  const { markdown, report } = await post<ConvertedHtml>(path, body, type, signal)
  const words = reportWords(report)
  if (words) toast(name ? `${name}: ${words}` : words, { about: 'paste' })
  return markdown
}
