/**
 * The keys of every text field, of Linux, Windows and macOS. CodeMirror's own list also has keys
 * for programmers' brackets and indentation; those would have the parser's library fetched before
 * the text is shown.
 */
import * as commands from '@codemirror/commands'
import type { KeyBinding } from '@codemirror/view'
import { deleteCharacter, indentLines } from './format.ts'

const backward = deleteCharacter('backward')
const forward = deleteCharacter('forward')

const everywhere: readonly KeyBinding[] = [
  { key: 'ArrowLeft', run: commands.cursorCharLeft, shift: commands.selectCharLeft },
  { key: 'ArrowRight', run: commands.cursorCharRight, shift: commands.selectCharRight },
  { key: 'ArrowUp', run: commands.cursorLineUp, shift: commands.selectLineUp },
  { key: 'ArrowDown', run: commands.cursorLineDown, shift: commands.selectLineDown },
  {
    key: 'Mod-ArrowLeft',
    mac: 'Alt-ArrowLeft',
    run: commands.cursorGroupLeft,
    shift: commands.selectGroupLeft,
  },
  {
    key: 'Mod-ArrowRight',
    mac: 'Alt-ArrowRight',
    run: commands.cursorGroupRight,
    shift: commands.selectGroupRight,
  },
  {
    key: 'Home',
    run: commands.cursorLineBoundaryBackward,
    shift: commands.selectLineBoundaryBackward,
  },
  {
    key: 'End',
    run: commands.cursorLineBoundaryForward,
    shift: commands.selectLineBoundaryForward,
  },
  { key: 'Backspace', run: backward, shift: backward },
  { key: 'Delete', run: forward },
  { key: 'Mod-Backspace', mac: 'Alt-Backspace', run: commands.deleteGroupBackward },
  { key: 'Mod-Delete', mac: 'Alt-Delete', run: commands.deleteGroupForward },
  {
    mac: 'Cmd-ArrowLeft',
    run: commands.cursorLineBoundaryLeft,
    shift: commands.selectLineBoundaryLeft,
  },
  {
    mac: 'Cmd-ArrowRight',
    run: commands.cursorLineBoundaryRight,
    shift: commands.selectLineBoundaryRight,
  },
  { mac: 'Mod-Backspace', run: commands.deleteLineBoundaryBackward },
  { mac: 'Mod-Delete', run: commands.deleteLineBoundaryForward },
].map((binding) => ({ ...binding, preventDefault: true }))

export const textKeys: readonly KeyBinding[] = [
  // Elsewhere the browser would leave the page.
  {
    key: 'Alt-ArrowLeft',
    mac: 'Ctrl-ArrowLeft',
    run: commands.cursorGroupLeft,
    shift: commands.selectGroupLeft,
  },
  {
    key: 'Alt-ArrowRight',
    mac: 'Ctrl-ArrowRight',
    run: commands.cursorGroupRight,
    shift: commands.selectGroupRight,
  },
  { key: 'Alt-ArrowUp', run: commands.moveLineUp },
  { key: 'Shift-Alt-ArrowUp', run: commands.copyLineUp },
  { key: 'Alt-ArrowDown', run: commands.moveLineDown },
  { key: 'Shift-Alt-ArrowDown', run: commands.copyLineDown },
  { key: 'Mod-Alt-ArrowUp', run: commands.addCursorAbove },
  { key: 'Mod-Alt-ArrowDown', run: commands.addCursorBelow },
  { key: 'Escape', run: commands.simplifySelection },
  { key: 'Alt-l', mac: 'Ctrl-l', run: commands.selectLine },
  { key: 'Mod-[', run: indentLines('less') },
  { key: 'Mod-]', run: indentLines('more') },
  { key: 'Ctrl-m', mac: 'Shift-Alt-m', run: commands.toggleTabFocusMode },
  ...everywhere,
  { mac: 'Cmd-ArrowUp', run: commands.cursorDocStart, shift: commands.selectDocStart },
  { mac: 'Ctrl-ArrowUp', run: commands.cursorPageUp, shift: commands.selectPageUp },
  { mac: 'Cmd-ArrowDown', run: commands.cursorDocEnd, shift: commands.selectDocEnd },
  { mac: 'Ctrl-ArrowDown', run: commands.cursorPageDown, shift: commands.selectPageDown },
  { key: 'PageUp', run: commands.cursorPageUp, shift: commands.selectPageUp },
  { key: 'PageDown', run: commands.cursorPageDown, shift: commands.selectPageDown },
  { key: 'Mod-Home', run: commands.cursorDocStart, shift: commands.selectDocStart },
  { key: 'Mod-End', run: commands.cursorDocEnd, shift: commands.selectDocEnd },
  { key: 'Enter', run: commands.insertNewlineKeepIndent, shift: commands.insertNewlineKeepIndent },
  { key: 'Mod-a', run: commands.selectAll },
  { mac: 'Ctrl-b', run: commands.cursorCharLeft, shift: commands.selectCharLeft },
  { mac: 'Ctrl-f', run: commands.cursorCharRight, shift: commands.selectCharRight },
  { mac: 'Ctrl-p', run: commands.cursorLineUp, shift: commands.selectLineUp },
  { mac: 'Ctrl-n', run: commands.cursorLineDown, shift: commands.selectLineDown },
  { mac: 'Ctrl-a', run: commands.cursorLineStart, shift: commands.selectLineStart },
  { mac: 'Ctrl-e', run: commands.cursorLineEnd, shift: commands.selectLineEnd },
  { mac: 'Ctrl-d', run: forward },
  { mac: 'Ctrl-h', run: backward },
  { mac: 'Ctrl-k', run: commands.deleteToLineEnd },
  { mac: 'Ctrl-Alt-h', run: commands.deleteGroupBackward },
  { mac: 'Ctrl-o', run: commands.splitLine },
  { mac: 'Ctrl-t', run: commands.transposeChars },
  { mac: 'Ctrl-v', run: commands.cursorPageDown },
]
