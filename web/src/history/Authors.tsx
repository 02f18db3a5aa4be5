/** "Who wrote this": the legend, and who wrote what stands at the caret. */
import { Icon } from '../ui/icons.tsx'
import { toggleAuthors, useAuthors } from './store.ts'
import { credit, share } from './wording.ts'
import './Authors.css'

export function Authors() {
  const { parts, here } = useAuthors()
  const all = parts.reduce((sum, part) => sum + part.units, 0)
  return (
    <section className="authors" aria-label="Who wrote this">
      <ul>
        {parts.map(({ key, name, look, units }) => (
          <li key={key}>
            <span className={`cm-by by-${look}`}>{name}</span> {share(units, all)}
          </li>
        ))}
        {parts.length === 0 && <li>Nothing is written yet.</li>}
      </ul>
      <p role="status">
        {here ? credit(here, Date.now()) : 'Put the caret into the text to see who wrote it.'}
      </p>
      <button
        type="button"
        className="icon-button"
        aria-label="Hide who wrote this"
        title="Hide"
        onClick={toggleAuthors}
      >
        <Icon name="cross" size={14} />
      </button>
    </section>
  )
}
