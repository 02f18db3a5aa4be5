/** Word documents among the files that people choose or drop. */
import { toast } from '../ui/toasts.ts'

export const isWordDocument = ({ name }: File): boolean => /\.docx$/i.test(name)

/** The text of a Word document as Markdown; `null`: it cannot be had, and the reason was said. */
export async function wordDocument(file: File): Promise<string | null> {
  const problem = (words: string) => {
    toast(`${file.name} ${words}`)
    return null
  }
  const bytes = await file.arrayBuffer()
  const fetched = await import('./docx.ts').catch(() => null)
  if (!fetched) return problem('can’t be read now. Try again once you are online.')
  try {
    return await fetched.docxAsMarkdown(bytes)
  } catch (error) {
    return error instanceof fetched.FileTooLarge
      ? problem('is too large: unpacked, its text has more than 16 MB.')
      : problem('can’t be read as a Word document.')
  }
}
