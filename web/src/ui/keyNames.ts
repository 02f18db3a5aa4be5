/** Names of keys on this computer's keyboard. */
const apple = /Mac|iPhone|iPad/.test(navigator.platform)

export const MOD = apple ? '⌘' : 'Ctrl'
export const SHIFT = apple ? '⇧' : 'Shift'
export const ALT = apple ? '⌥' : 'Alt'
