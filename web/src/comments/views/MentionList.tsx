/** The names that go on as what is typed after an `@`. */
import { type Names, optionId } from './useMentions.ts'

export function MentionList({ id, names }: { id: string; names: Names }) {
  if (!names.found) return null
  return (
    <ul className="mention-list" role="listbox" id={id} aria-label="People">
      {names.found.people.map((person, at) => (
        <li
          key={person.id}
          id={optionId(id, at)}
          role="option"
          aria-selected={at === names.at}
          // Keeps the caret in the field.
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => names.pick(person)}
        >
          {person.name}
        </li>
      ))}
    </ul>
  )
}
