/**
 * Reads counts, headings and the selection off the text, not at every keystroke but when the writer
 * pauses.
 */
import type { EditorView, ViewUpdate } from '@codemirror/view'
import { Debouncer } from './debouncer.ts'
import { useOpenDocument } from './useOpenDocument.ts'
import { countWords, outline, wordsOf } from '../text/textStatistics.ts'

const PAUSE_MS = 250

export class TextWatcher {
  private readonly later = new Debouncer(PAUSE_MS, () => this.read())

  constructor(private readonly view: EditorView) {}

  changed(update: ViewUpdate): void {
    if (update.docChanged) this.readSoon()
    if (update.selectionSet || update.docChanged) {
      const { from, to } = update.state.selection.main
      const old = useOpenDocument.getState().selection
      if (old?.from === from && old.to === to) return
      if (from !== to)
        useOpenDocument.setState({
          selection: { from, to },
          selectedWords: countWords(update.state.sliceDoc(from, to)),
        })
      else if (old) useOpenDocument.setState({ selection: null, selectedWords: 0 })
    }
  }

  readSoon(): void {
    this.later.want()
  }

  read(): void {
    this.later.stop()
    const { state } = this.view
    useOpenDocument.setState({
      words: wordsOf(state.doc),
      headings: outline(state.doc),
      snapshot: state,
    })
  }

  stop(): void {
    this.later.stop()
  }
}
