/** The looks of authors: as those of the people in the document. */
import { useOpenDocument } from '../document/useOpenDocument.ts'
import { keyOfPerson, looksOf } from '../presence/looks.ts'
import type { Person, ProvenanceSpan } from '../wire/generated.ts'
import { type AuthorShare, authorShares, peopleIn } from './wording.ts'

export function sharesAsShown(spans: readonly ProvenanceSpan[]): AuthorShare[] {
  const here = useOpenDocument.getState().peers.map(({ user, name }) => ({ id: user, name }))
  const authors = peopleIn(spans)
  // An account may go by another name here than where it wrote.
  const named = ({ id, name }: Person) =>
    here.find((one) => one.id === id && one.name === name) ??
    here.find((one) => one.id === id) ?? { id, name }
  const looks = looksOf([...here, ...authors.map(named)])
  return authorShares(spans, (person) => looks.get(keyOfPerson(named(person))) ?? 0)
}
