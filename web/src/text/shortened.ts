/** The beginning of a long text. Pure. */

/** At most so many UTF-16 units, with a sign where more follows. */
export const shortened = (text: string, most: number): string =>
  text.length <= most ? text : `${text.slice(0, most).toWellFormed()}…`
