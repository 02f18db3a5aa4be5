/** The bin of the desk: what has ended there, who ended it, and the ways back. */
import { BinPages } from '../review/BinPages.tsx'
import { DESK, type Filter } from '../review/bin.ts'
import { bin } from './bin.ts'
import { DeskCard } from './DeskCard.tsx'
import { useDesk } from './store.ts'

const FILTERS: readonly (readonly [Filter, string])[] = [['all', 'All'], ['approved', 'Approved'], ['rejected', 'Rejected'], ['expired', 'Expired'], ['cancelled', 'Cancelled']]

export function DeskBin() {
  const live = useDesk((desk) => desk.requests)
  return (
    <section className="desk-bin" aria-label="Earlier">
      <h3 className="earlier">Earlier</h3>
      <BinPages
        bin={bin} id={DESK} filters={FILTERS} live={live}
        list={(requests) => <ul className="desk-cards" aria-label="Earlier">{requests.map((request) => <DeskCard key={request.request_id} request={request} />)}</ul>}
        empty={(filter) => <p className="desk-none">{filter === 'all' ? 'Nothing has been decided here yet.' : 'Nothing of that kind.'}</p>}
      />
    </section>
  )
}
