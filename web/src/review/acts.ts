/** What keys mean where something is reviewed: in the bar below a text, and at the desk. Pure. */

export type Act = 'next' | 'previous' | 'accept' | 'reject' | 'edit' | 'undo' | 'sheet' | 'text'
export type Press = Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey' | 'shiftKey'>

export function actionOf({ key, ctrlKey, metaKey, altKey, shiftKey }: Press, mayDecide: boolean): Act | undefined {
  const mod = ctrlKey || metaKey
  if (key === 'F8') return shiftKey ? 'previous' : 'next'
  if (key === 'Enter' && mayDecide && (mod || altKey)) return altKey ? 'edit' : shiftKey ? 'reject' : 'accept'
  if (mod || altKey) return undefined
  const letters: Record<string, Act> = { j: 'next', k: 'previous', '?': 'sheet', Escape: 'text', ...(mayDecide && { a: 'accept', r: 'reject', e: 'edit', u: 'undo' }) }
  return letters[key.length === 1 ? key.toLowerCase() : key]
}
