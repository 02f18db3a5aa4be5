/** The words where nothing is frozen. Pure. */
import { MOD, SHIFT } from '../ui/keyNames.ts'

/** Explains freezing to people who may freeze; to others, the role that may. */
export const nothingFrozen = (mayFreeze: boolean): string =>
  mayFreeze
    ? `None. Select words in the text and press ${MOD} ${SHIFT} L: the AI can’t change them; people still can.`
    : 'None. An owner can freeze words: the AI can’t change them; people still can.'
