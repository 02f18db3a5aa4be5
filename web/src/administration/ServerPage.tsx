/** The owner's page: people, work in progress, spending and storage of the server. */
import { useCallback, useEffect, useState } from 'react'
import { ErrorPage } from '../ui/ErrorPage.tsx'
import { Link } from '../navigation/Link.tsx'
import { navigate } from '../navigation/routes.ts'
import { Skeleton } from '../ui/Skeleton.tsx'
import { useTabTitle } from '../navigation/tabTitle.ts'
import { attempt } from '../session/attempt.ts'
import { useSession, wire } from '../session/store.ts'
import { Icon } from '../ui/icons.tsx'
import type { DocumentLine, MonthSpending, StoredSizes, WorkInProgress } from '../wire/generated.ts'
import { PeopleSection } from './PeopleSection.tsx'
import { SpendingSection } from './SpendingSection.tsx'
import { byteSize, type KnownPerson, peopleOf } from './wording.ts'
import { WorkSection } from './WorkSection.tsx'
import './ServerPage.css'

/**
 * The server does not announce to this page what happens elsewhere: it asks while it is looked at.
 */
const REFRESH_MS = 10_000

export function ServerPage() {
  const { me, link } = useSession()
  useTabTitle('Server', { all: 0, mine: 0 })
  if (me === null) return <Skeleton />
  const isAble = me.role === 'owner' && me.capabilities.includes('administration')
  return (
    <div className="library server-page">
      <main>
        <Link className="button is-quiet" to="/">
          <Icon name="book" size={16} /> Documents
        </Link>
        <div className="library-head">
          <h1>Server</h1>
        </div>
        {isAble ? (
          <Sections isOnline={link === 'online'} />
        ) : (
          <ErrorPage
            title="This page is for owners"
            action={{ label: 'All documents', run: () => navigate('/') }}
          >
            Ask an owner of this server for what you need.
          </ErrorPage>
        )}
      </main>
    </div>
  )
}

function Sections({ isOnline }: { isOnline: boolean }) {
  const { people, documents, spending, work, storage, load, setSpending } = useServer(isOnline)
  return (
    <>
      {!isOnline && (
        <p className="warn-note" role="status">
          The server cannot be reached. This page shows what was known before.
        </p>
      )}
      {work && <WorkSection work={work} onChange={load} />}
      {spending && (
        <SpendingSection spending={spending} documents={documents} onSet={setSpending} />
      )}
      {people && spending && (
        <PeopleSection
          people={people}
          documents={documents}
          spending={spending}
          onSet={setSpending}
          onChange={load}
        />
      )}
      {storage && <StorageSection storage={storage} />}
      {!work && <Skeleton />}
    </>
  )
}

function useServer(isOnline: boolean) {
  const [people, setPeople] = useState<KnownPerson[] | null>(null)
  const [documents, setDocuments] = useState<DocumentLine[]>([])
  const [spending, setSpending] = useState<MonthSpending | null>(null)
  const [work, setWork] = useState<WorkInProgress | null>(null)
  const [storage, setStorage] = useState<StoredSizes | null>(null)
  const look = useCallback(async () => {
    const [tokens, list, sums, now] = await Promise.all([
      attempt(wire.call('token:list', {})),
      attempt(wire.call('document:list', {})),
      attempt(wire.call('spending:get', {})),
      attempt(wire.call('server:work', {})),
    ])
    if (tokens) setPeople(peopleOf(tokens.tokens))
    if (list) setDocuments(list.documents)
    if (sums) setSpending(sums)
    if (now) setWork(now)
  }, [])
  const load = useCallback(() => void look(), [look])
  useEffect(() => {
    if (!isOnline) return
    load()
    // Measured once: it takes long where much is stored.
    void attempt(wire.call('server:storage', {})).then((sizes) => sizes && setStorage(sizes))
    const timer = setInterval(() => document.hidden || load(), REFRESH_MS)
    return () => clearInterval(timer)
  }, [isOnline, load])
  return { people, documents, spending, work, storage, load, setSpending }
}

function StorageSection({ storage }: { storage: StoredSizes }) {
  const { documents, deletedDocuments, textBytes, updates, updateBytes, databaseBytes } = storage
  const count = (number: number) => number.toLocaleString('en-US')
  const inTrash = deletedDocuments > 0 ? ` and ${count(deletedDocuments)} in the trash` : ''
  const sizes = {
    Documents: count(documents) + inTrash,
    Texts: byteSize(textBytes),
    Changes: `${byteSize(updateBytes)} in ${count(updates)} ${updates === 1 ? 'update' : 'updates'}`,
    Database: byteSize(databaseBytes),
  }
  return (
    <section className="server-section" aria-labelledby="server-storage">
      <h2 id="server-storage">Storage</h2>
      <dl className="server-sizes">
        {Object.entries(sizes).map(([name, size]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{size}</dd>
          </div>
        ))}
      </dl>
    </section>
  )
}
