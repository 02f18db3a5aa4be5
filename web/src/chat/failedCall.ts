/**
 * Failed calls in words for writers: what a tool says is meant for the model, which may try
 * otherwise. Pure.
 */
const CALLS: readonly (readonly [pattern: RegExp, words: (found: RegExpExecArray) => string])[] = [
  [/^User rejected: (.+)/, ([, reason = '']) => `Rejected: ${reason}`],
  [/^User rejected/, () => 'Rejected'],
  [/^Approval timed out/, () => 'Nobody decided in time'],
  [/^The run was cancelled/, () => 'Stopped before it was done'],
  [/^Content too large/, () => 'The AI wanted to write more than 100,000 characters at once'],
  [/cursor is not known/, () => 'The AI did not know where your cursor is'],
  [/frozen/, () => 'The AI wanted to change frozen words'],
  [
    /(may be changed, units|nothing else may be changed)/,
    () => 'The AI wanted to change words outside your selection',
  ],
  [/you have not read/, () => 'The AI wanted to change words that it had not read'],
  [
    /(was empty when you|as it reads now|changed meanwhile)/,
    () => 'The text had changed meanwhile',
  ],
  [
    /^Invalid (selection range|position)/,
    () => 'The AI pointed at a place that is not in the text',
  ],
  [
    /^(No match|Expected \d+ matches|Nothing was proposed|Error: (No|Multiple) match)/,
    () => 'The AI quoted words that are not in the text like that',
  ],
]

export function failedCall(told: string): string {
  for (const [pattern, words] of CALLS) {
    const found = pattern.exec(told)
    if (found) return words(found)
  }
  return 'One attempt did not work. The AI was told why'
}
