// The page of comments, as stories see and use it.
import { eventually } from './support.mjs'

export const threads = (writer) => writer.page.locator('.threads > li > article')

export const field = (writer, label) =>
  writer.page.getByRole('textbox', { name: label, exact: true })

/** The texts of all comments. */
export const texts = (writer) => writer.page.locator('.threads .comment-text').allTextContents()

/** Waits until these are the texts of all comments. */
export const shows = (writer, what, wanted) =>
  eventually(
    what,
    () => texts(writer),
    (all) => JSON.stringify(all) === JSON.stringify(wanted),
  )
