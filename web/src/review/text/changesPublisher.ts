/** Publishes the editor's state for the page around the text when the changes in it differ. */
import type { EditorView, ViewUpdate } from '@codemirror/view'
import { publish, useOpenDocument } from '../../document/useOpenDocument.ts'
import { isSameList } from '../state/changes.ts'
import { reviewIn } from './reviewField.ts'

/** Time that the panel may lag behind the text: longer lists cost more to draw. */
const MOVED_MS = 100
const MOVED_MS_PER_HUNK = 2

export class ChangesPublisher {
  private frame = 0
  private painted: ReturnType<typeof setTimeout> | undefined
  private moved: ReturnType<typeof setTimeout> | undefined

  constructor(private readonly view: EditorView) {}

  /**
   * Publishes right after the text is painted if a change came, went or has another status; at the
   * next frame if only another one is active; when there is time if they moved with the words.
   */
  changed({ docChanged, startState, state }: ViewUpdate): void {
    const now = reviewIn(state)
    if (!docChanged && now === reviewIn(startState)) return
    const shown = reviewIn(useOpenDocument.getState().snapshot)
    if (!isSameList(now.hunks, shown.hunks) || !isSameList(now.streaming, shown.streaming))
      this.frame ||= requestAnimationFrame(() => {
        // A timer runs after the frame is painted: drawing a long list takes longer than a frame.
        this.painted = setTimeout(() => this.show())
      })
    else if (
      now.active !== shown.active ||
      now.resolved?.outcome !== shown.resolved?.outcome ||
      (now.resolved === null) !== (shown.resolved === null) ||
      now.shown !== shown.shown
    )
      this.frame ||= requestAnimationFrame(() => this.show())
    else if (!docChanged || now.hunks.length + now.streaming.length > 0)
      this.moved ??= setTimeout(() => this.show(), MOVED_MS + now.hunks.length * MOVED_MS_PER_HUNK)
  }

  stop(): void {
    cancelAnimationFrame(this.frame)
    clearTimeout(this.painted)
    clearTimeout(this.moved)
  }

  private show(): void {
    this.stop()
    this.frame = 0
    this.moved = undefined
    publish(this.view.state)
  }
}
