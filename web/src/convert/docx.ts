/**
 * Word documents as Markdown. Fetched when somebody imports one. Mammoth reads them: numbering,
 * styles, footnotes and tracked changes would be thousands of lines of our own.
 */
import mammoth from 'mammoth/mammoth.browser.min.js'
import { markdownOf } from './markdownOf.ts'
import { checkUnpackedSize, FileTooLarge, UnreadableFile } from './zip.ts'

export { FileTooLarge } from './zip.ts'

/** Bytes of a file, pictures included. */
const LARGEST_FILE = 50_000_000

const STYLES = [
  "p[style-name='Title'] => h1:fresh",
  "p[style-name='Subtitle'] => p:fresh",
  "p[style-name='Quote'] => blockquote:fresh",
  "p[style-name='Intense Quote'] => blockquote:fresh",
  // As this server's export and pandoc name them.
  "p[style-name='Source Code'] => pre:separator('\\n')",
  "r[style-name='Verbatim Char'] => code",
  "p[style-name='Horizontal Rule'] => hr:fresh",
]

/**
 * What can be kept of it: headings, lists, emphasis, links, quotations, tables and footnotes;
 * tracked changes as accepted, pictures as their descriptions. Throws {@link UnreadableFile} or
 * {@link FileTooLarge}.
 */
export async function docxAsMarkdown(file: ArrayBuffer): Promise<string> {
  if (file.byteLength > LARGEST_FILE) throw new FileTooLarge()
  await checkUnpackedSize(file)
  try {
    const { value } = await mammoth.convertToHtml(
      { arrayBuffer: file },
      {
        styleMap: STYLES,
        // Those of code are its blank lines; of others nothing is left in Markdown.
        ignoreEmptyParagraphs: false,
        // The address of a picture that is not kept.
        convertImage: mammoth.images.imgElement(() => Promise.resolve({ src: '' })),
      },
    )
    return markdownOf(value)
  } catch {
    throw new UnreadableFile()
  }
}
