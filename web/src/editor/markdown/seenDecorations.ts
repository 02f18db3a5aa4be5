/** Decorations of the part of the text that is seen. */
import {
  type DecorationSet,
  type EditorView,
  type PluginValue,
  ViewPlugin,
  type ViewUpdate,
} from '@codemirror/view'

/** Draws them anew when another part is seen, the text changed, or `isStale` says so. */
export const seenDecorations = (
  draw: (view: EditorView) => DecorationSet,
  isStale: (update: ViewUpdate) => boolean = () => false,
) =>
  ViewPlugin.fromClass(
    class implements PluginValue {
      decorations: DecorationSet

      constructor(view: EditorView) {
        this.decorations = draw(view)
      }

      update(update: ViewUpdate): void {
        if (update.docChanged || update.viewportChanged || isStale(update))
          this.decorations = draw(update.view)
      }
    },
    { decorations: (plugin) => plugin.decorations },
  )
