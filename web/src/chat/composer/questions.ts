/** Questions about selected words that are asked with one click. Pure. */
interface Question {
  /** On the button. */
  words: string
  /** As it is asked. */
  prompt: string
  /** Takes a language model: the built-in editor only corrects. */
  rewrites: boolean
}

const QUESTIONS: readonly Question[] = [
  { words: 'Fix', prompt: 'Fix the grammar and spelling', rewrites: false },
  { words: 'Shorten', prompt: 'Shorten this passage and keep what it says', rewrites: true },
  { words: 'Rephrase', prompt: 'Rephrase this passage and keep what it says', rewrites: true },
]

/** The questions that the model can serve. */
export const questionsFor = (model: string): Question[] =>
  QUESTIONS.filter(({ rewrites }) => !rewrites || !model.startsWith('harper'))
