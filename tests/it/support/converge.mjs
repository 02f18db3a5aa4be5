// Editors far from each other: seeded sessions of real CodeMirror states with real socket.io
// clients against a running server. node converge.mjs MODULES < one line {url, tokens, people,
// cut: [{url | urls, tokens, people, isPatient}], script, seeds, seconds, stock, kind, governed}
// After its seeds it plays the following ones until the seconds are over. Where a kind is given,
// all sessions are of it; governed ones are under all rules of review. Out, as JSON lines: {cut:
// 0} asks for the first of the other servers to be killed and started again, which is answered by
// {url}, or {urls} of several; at the end {done: {count, failures}}.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { CALM, FOUND, cases } from "./converge/cases.mjs";
import { Governed, governed } from "./converge/governed.mjs";
import { Broken } from "./converge/ledger.mjs";
import { Session, kind } from "./converge/session.mjs";

/** Sessions at a time on the server that stays up. */
const ABREAST = 4;
/** Governed ones, which mostly wait. */
const GOVERNED_ABREAST = 8;
const TRACED = 40;
/** A server that is wrong is wrong again and again. */
const ENOUGH_FAILURES = 5;

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const hear = async () => JSON.parse((await lines.next()).value);
const say = (line, written) => process.stdout.write(JSON.stringify(line) + "\n", written);

const told = await hear();
const { turns } = JSON.parse(readFileSync(told.script));
const proposals = turns.filter(({ when }) => when).map(({ when, content }) => ({ prompt: when.user, text: content.at(-1).input.new_content }));
const { url, tokens, people } = told;
const desk = { url, tokens, people, proposals };
const fragile = told.cut.map((place, at) => {
  const { tokens, people } = place;
  let urls = place.urls ?? [place.url], next = 0;
  return {
    tokens,
    people,
    proposals,
    /** Several servers, which may also be stopped in good order. */
    isSeveral: Boolean(place.urls),
    /** It may refuse what it cannot store, which is tried again. */
    isPatient: Boolean(place.urls ?? place.isPatient),
    // Of several servers, one after the other.
    get url() {
      return urls[next++ % urls.length];
    },
    async cut() {
      say({ cut: at });
      const told = await hear();
      urls = told.urls ?? [told.url];
    },
  };
});
const [Play, kindOf] = told.governed ? [Governed, governed] : [Session, kind];

const count = { sessions: 0 }, failures = [];

async function attempt(what, name, play) {
  try {
    for (const [name, amount] of Object.entries(await play())) count[name] = (count[name] ?? 0) + amount;
    count.sessions++;
  } catch (error) {
    failures.push({ seed: name, why: error instanceof Broken ? error.message : error.stack, trace: what.trace.slice(-TRACED) });
  }
}

async function lane(seeds, on) {
  for (let seed; (seed = seeds()) !== undefined && failures.length < (told.stock ? 1 : ENOUGH_FAILURES); ) {
    const session = new Play({ seed, desk: on, stock: told.stock, kind: { ...kindOf(seed), ...told.kind } });
    await attempt(session, `${seed}`, () => session.run());
  }
}

const isAll = !told.stock && !told.kind && !told.governed;
if (isAll) {
  for (const [name, play] of Object.entries(cases)) {
    const session = new Session({ seed: 0, desk, kind: CALM });
    await attempt(session, name, () => session.run(play));
  }
}
if (told.seeds.length > 1 && isAll) told.seeds.push(...Object.keys(FOUND).map(Number));
const isCut = (seed) => told.kind?.cut ?? kindOf(seed).cut;
const until = performance.now() + 1000 * (told.seconds ?? 0);

/** The seeds that are about this, one after the other. */
function deal(cut) {
  const given = told.seeds.filter((seed) => isCut(seed) === cut);
  let next = Math.max(...told.seeds) + 1;
  return () => {
    if (given.length > 0 || performance.now() >= until) return given.shift();
    while (isCut(next) !== cut) next++;
    return next++;
  };
}

const upright = deal(false), cut = deal(true);
await Promise.all([...fragile.map((on) => lane(cut, on)), ...(told.kind?.cut ? [] : Array.from({ length: told.governed ? GOVERNED_ABREAST : ABREAST }, () => lane(upright, desk)))]);
// Not before everything is written: sockets of sessions that failed would keep the process.
say({ done: { count, failures } }, () => process.exit(0));
