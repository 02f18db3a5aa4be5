/**
 * Reads counts, headings and the selection off the text, not at every keystroke but when the writer
 * pauses.
 */
import type { EditorView, ViewUpdate } from '@codemirror/view'
import { reviewField } from '../review/changes/reviewField.ts'
import type { Hunk } from '../wire/generated.ts'
import { useDocument } from './store.ts'
import { countWords, outline, wordsOf } from './textStatistics.ts'

const PAUSE_MS = 250
/** How far the panel's quotations may lag behind the text: longer lists cost more to draw. */
const MOVED_MS = 100
const MOVED_MS_PER_HUNK = 2

const NOTHING = {
  hunks: [],
  streaming: [],
  active: null,
  resolved: null,
  shown: 'markup',
} as const

export class TextWatcher {
  private timer: ReturnType<typeof setTimeout> | undefined
  private frame = 0
  private painted: ReturnType<typeof setTimeout> | undefined
  private moved: ReturnType<typeof setTimeout> | undefined

  constructor(private readonly view: EditorView) {}

  changed(update: ViewUpdate): void {
    if (update.docChanged) {
      this.timer ??= setTimeout(() => this.read(), PAUSE_MS)
      this.hunks()
    }
    if (update.selectionSet || update.docChanged) {
      const { from, to } = update.state.selection.main
      const old = useDocument.getState().selection
      if (old?.from === from && old.to === to) return
      if (from !== to)
        useDocument.setState({
          selection: { from, to },
          selectedWords: countWords(update.state.sliceDoc(from, to)),
        })
      else if (old) useDocument.setState({ selection: null, selectedWords: 0 })
    }
  }

  /**
   * The pending changes: right after the text is painted if one came, went or changed its state; at
   * once if only another one is the active one; when there is time if they only moved with the
   * words.
   */
  hunks(): void {
    const {
      hunks,
      streaming,
      active,
      resolved,
      shown: textView,
    } = this.view.state.field(reviewField, false) ?? NOTHING
    const shown = useDocument.getState()
    if (!alike(hunks, shown.hunks) || !alike(streaming, shown.streaming))
      this.frame ||= requestAnimationFrame(() => {
        // A timer runs after the frame is painted: drawing a long list takes longer than a frame.
        this.painted = setTimeout(() => this.show())
      })
    else if (
      active !== shown.active ||
      resolved?.outcome !== shown.resolved?.outcome ||
      (resolved === null) !== (shown.resolved === null) ||
      textView !== shown.shown
    )
      this.frame ||= requestAnimationFrame(() => this.show())
    else if (hunks.length + streaming.length > 0)
      this.moved ??= setTimeout(() => this.show(), MOVED_MS + hunks.length * MOVED_MS_PER_HUNK)
  }

  private show(): void {
    this.forgetHunks()
    this.frame = 0
    this.moved = undefined
    const { hunks, streaming, active, resolved, shown } =
      this.view.state.field(reviewField, false) ?? NOTHING
    useDocument.setState(({ revision }) => ({
      hunks,
      streaming,
      active,
      resolved,
      shown,
      revision: revision + 1,
    }))
  }

  read(): void {
    clearTimeout(this.timer)
    this.timer = undefined
    const { doc } = this.view.state
    useDocument.setState(({ revision }) => ({
      words: wordsOf(doc),
      headings: outline(doc),
      revision: revision + 1,
    }))
    this.hunks()
  }

  stop(): void {
    clearTimeout(this.timer)
    this.forgetHunks()
  }

  private forgetHunks(): void {
    cancelAnimationFrame(this.frame)
    clearTimeout(this.painted)
    clearTimeout(this.moved)
  }
}

/** The same changes in the same states, wherever they are. */
function alike(a: readonly Hunk[], b: readonly Hunk[]): boolean {
  return (
    a.length === b.length &&
    a.every((hunk, index) => hunk.id === b[index]!.id && hunk.status === b[index]!.status)
  )
}
