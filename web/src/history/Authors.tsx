/** "Who wrote this": the legend, and who wrote what stands at the caret. */
import { showThread } from '../comments/stores/threads.ts'
import { IconButton } from '../ui/Button.tsx'
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
      {here?.threads?.map((id, index) => (
        <button key={id} type="button" className="link" onClick={() => showThread(id)}>
          {index === 0 ? 'Discussed in a thread' : `Thread ${index + 1}`}
        </button>
      ))}
      <IconButton
        label="Hide who wrote this"
        title="Hide"
        name="cross"
        size={14}
        onClick={toggleAuthors}
      />
    </section>
  )
}
