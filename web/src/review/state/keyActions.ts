/** Actions of keys in a review: in the bar below a text, and at the desk. Pure. */

export type ReviewAction =
  | 'next'
  | 'previous'
  | 'unread'
  | 'defer'
  | 'accept'
  | 'reject'
  | 'edit'
  | 'split'
  | 'undo'
  | 'shortcuts'
  | 'text'
export type KeyPress = Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey' | 'shiftKey'>

/** `mayType`: whether they may also put in words of their own. */
export function actionOf(
  { key, ctrlKey, metaKey, altKey, shiftKey }: KeyPress,
  mayDecide: boolean,
  mayType = mayDecide,
): ReviewAction | undefined {
  const mod = ctrlKey || metaKey
  if (key === 'F8') return mod ? 'unread' : shiftKey ? 'previous' : 'next'
  if (key === 'Enter' && altKey) return mayDecide && mayType ? 'edit' : undefined
  if (key === 'Enter' && mayDecide && mod) return shiftKey ? 'reject' : 'accept'
  if (mod || altKey) return undefined
  const letters: Record<string, ReviewAction> = {
    j: 'next',
    k: 'previous',
    n: 'unread',
    d: 'defer',
    '?': 'shortcuts',
    Escape: 'text',
    ...(mayDecide && { a: 'accept', r: 'reject', s: 'split', u: 'undo' }),
    ...(mayDecide && mayType && { e: 'edit' }),
  }
  return letters[key.length === 1 ? key.toLowerCase() : key]
}
