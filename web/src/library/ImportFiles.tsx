/** Files of one's own computer as new documents: chosen, or dropped on the page. */
import { useEffect, useRef } from 'react'
import { Button } from '../ui/Button.tsx'
import { Icon } from '../ui/icons.tsx'
import { toast } from '../ui/toasts.ts'
import { plural } from '../ui/timeFormat.ts'
import { documentPath, navigate } from '../navigation/routes.ts'
import { importWords } from '../ui/importReport.ts'
import { post, Refused } from '../session/http.ts'
import type { ImportedDocument } from '../wire/generated.ts'

/** File types that the chooser of files offers. */
const KINDS =
  '.md,.markdown,.txt,.docx,.html,.htm,text/markdown,text/plain,text/html,application/vnd.openxmlformats-officedocument.wordprocessingml.document'

export function ImportFiles() {
  const chooser = useRef<HTMLInputElement>(null)
  useEffect(() => {
    const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') ?? false
    // Else the browser would leave the page for the file.
    const over = (event: DragEvent) => hasFiles(event) && event.preventDefault()
    const drop = (event: DragEvent) => {
      if (!hasFiles(event)) return
      event.preventDefault()
      void importAll([...event.dataTransfer!.files])
    }
    const listening = new AbortController()
    window.addEventListener('dragover', over, { signal: listening.signal })
    window.addEventListener('drop', drop, { signal: listening.signal })
    return () => listening.abort()
  }, [])
  return (
    <>
      <Button
        title="Word documents, web pages, Markdown and plain text of your computer, as new documents"
        onClick={() => chooser.current?.click()}
      >
        <Icon name="upload" size={14} /> Import
      </Button>
      <input
        ref={chooser}
        type="file"
        hidden
        multiple
        accept={KINDS}
        aria-label="Files to import"
        onChange={({ currentTarget }) => {
          void importAll([...(currentTarget.files ?? [])])
          // The same file may be chosen once more.
          currentTarget.value = ''
        }}
      />
    </>
  )
}

/** One is opened; of several it is said how many there are. */
async function importAll(files: readonly File[]): Promise<void> {
  const made: string[] = []
  for (const file of files) {
    const id = await importFile(file)
    if (id) made.push(id)
  }
  if (made.length === 1 && files.length === 1) navigate(documentPath(made[0]!))
  else if (made.length > 0) toast(`${plural(made.length, 'document')} imported.`)
}

/** The new document; nothing if the server does not take the file, which is said. */
async function importFile(file: File): Promise<string | undefined> {
  try {
    const query = new URLSearchParams({ name: file.name })
    const made = await post<ImportedDocument>(
      `documents/import?${query}`,
      file,
      file.type || 'application/octet-stream',
    )
    const words = importWords(made)
    if (words) toast(`${file.name}: ${words}`, { action: { label: 'OK', run: () => undefined } })
    return made.document.id
  } catch (error) {
    const why = error instanceof Refused ? error.message : 'it could not be read'
    toast(`${file.name} wasn’t imported: ${why}.`)
    return undefined
  }
}
