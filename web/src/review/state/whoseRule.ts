/**
 * The name of a rule by its maker. Pure; apart from the other words, which come beside the text.
 */
/** "Ana’s rule", "your rule" */
export function whoseRule(by: { id: string; name: string } | null, me: string | undefined): string {
  if (by === null) return 'a rule'
  return by.id === me ? 'your rule' : `${by.name}’s rule`
}
