/** How this computer's keyboard names its keys. */
const apple = /Mac|iPhone|iPad/.test(navigator.platform)

export const MOD = apple ? '⌘' : 'Ctrl'
export const SHIFT = apple ? '⇧' : 'Shift'
export const ALT = apple ? '⌥' : 'Alt'
