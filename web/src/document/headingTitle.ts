/**
 * Names a document that has no title of its own after the heading that its writer begins it with.
 */
import { Transaction } from '@codemirror/state'
import { type EditorView, ViewPlugin } from '@codemirror/view'
import { tooLong } from '../text/title.ts'
import type { Wire } from '../wire/socket.ts'
import { titleIn } from '../text/textStatistics.ts'
import { useOpenDocument } from './useOpenDocument.ts'

/** Title that the server gives to a document without one. */
const UNTITLED = 'Untitled'

/** Once the writer has left the line that they wrote. */
export const namesByHeading = (documentId: string, wire: Wire) =>
  ViewPlugin.define(() => {
    /** Set while the person has written the first line, and has not left it. */
    let wrote = false
    return {
      update({ transactions, view, state }) {
        if (useOpenDocument.getState().title !== UNTITLED) return
        wrote ||= transactions.some(writesFirstLine)
        if (!wrote || isThere(view)) return
        wrote = false
        const title = titleIn(state.doc)
        if (title === null || tooLong(title)) return
        // It stays without a title of its own if the server does not want this one.
        void wire.call('document:rename', { documentId, title }).catch(() => undefined)
      },
    }
  })

const writesFirstLine = (tr: Transaction): boolean =>
  tr.docChanged &&
  tr.annotation(Transaction.remote) !== true &&
  tr.changes.touchesRange(0, tr.startState.doc.line(1).to) !== false

const isThere = ({ hasFocus, state }: EditorView): boolean =>
  hasFocus && state.selection.main.head <= state.doc.line(1).to
