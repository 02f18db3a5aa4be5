/** Texts of one's own computer as new documents: chosen from its files, or dropped on the page. */
import { useEffect, useRef } from 'react'
import { Icon } from '../../ui/icons.tsx'
import { toast } from '../../ui/toasts.ts'
import { plural } from '../../ui/timeFormat.ts'
import { documentPath, navigate } from '../routes.ts'
import { isWordDocument, wordDocument } from '../../convert/files.ts'
import { KINDS, textIn } from './importText.ts'
import { createDocument } from './library.ts'
import { titleFor } from './title.ts'

export function ImportText() {
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
    window.addEventListener('dragover', over)
    window.addEventListener('drop', drop)
    return () => {
      window.removeEventListener('dragover', over)
      window.removeEventListener('drop', drop)
    }
  }, [])
  return (
    <>
      <button
        type="button"
        className="button"
        title="Markdown, plain text and Word documents of your computer, as new documents"
        onClick={() => chooser.current?.click()}
      >
        <Icon name="download" size={14} /> Import
      </button>
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

async function wordsOf(file: File): Promise<string | null> {
  if (isWordDocument(file)) return wordDocument(file)
  const text = textIn(await file.arrayBuffer())
  if (text === null)
    toast(`${file.name} holds no text. Markdown, plain text and Word documents can be imported.`)
  return text
}

/** One is opened; of several it is said how many there are. */
async function importAll(files: readonly File[]): Promise<void> {
  const made: string[] = []
  for (const file of files) {
    const text = await wordsOf(file)
    if (text === null) continue
    const id = await createDocument({ title: titleFor(file.name, text), text })
    if (id) made.push(id)
  }
  if (made.length === 1 && files.length === 1) navigate(documentPath(made[0]!))
  else if (made.length > 0) toast(`${plural(made.length, 'document')} imported.`)
}
