// Editors far from each other: seeded sessions of real CodeMirror states with real socket.io clients against a running server.
//   node converge.mjs MODULES < one line {url, tokens, cut: {url, tokens}, script, seeds, seconds, stock, kind}
// After its seeds it plays the following ones until the seconds are over. Where a kind is given, all sessions are of it.
// Out, as JSON lines: {cut: true} asks for the second server to be killed and started again, which is answered by {url}; at the
// end {done: {count, failures}}.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { CALM, FOUND, cases } from "./converge/cases.mjs";
import { Session, kind } from "./converge/session.mjs";

/** Sessions at a time on the server that stays up. */
const ABREAST = 4;
const TRACED = 40;

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const hear = async () => JSON.parse((await lines.next()).value);
const say = (line, written) => process.stdout.write(JSON.stringify(line) + "\n", written);

const told = await hear();
const { turns } = JSON.parse(readFileSync(told.script));
const proposals = turns.filter(({ when }) => when).map(({ when, content }) => ({ prompt: when.user, text: content.at(-1).input.new_content }));
const desk = { url: told.url, tokens: told.tokens, proposals };
const fragile = {
  ...told.cut,
  proposals,
  async cut() {
    say({ cut: true });
    fragile.url = (await hear()).url;
  },
};

const count = { sessions: 0 }, failures = [];

async function attempt(what, name, play) {
  try {
    for (const [name, amount] of Object.entries(await play())) count[name] = (count[name] ?? 0) + amount;
    count.sessions++;
  } catch (error) {
    failures.push({ seed: name, why: error.stack, trace: what.trace.slice(-TRACED) });
  }
}

async function lane(seeds, on) {
  for (let seed; (seed = seeds()) !== undefined && (failures.length === 0 || !told.stock); ) {
    const session = new Session({ seed, desk: on, stock: told.stock, kind: told.kind && { ...kind(seed), ...told.kind } });
    await attempt(session, `${seed}`, () => session.run());
  }
}

if (!told.stock && !told.kind) {
  for (const [name, play] of Object.entries(cases)) {
    const session = new Session({ seed: 0, desk, kind: CALM });
    await attempt(session, name, () => session.run(play));
  }
}
if (told.seeds.length > 1 && !told.stock && !told.kind) told.seeds.push(...Object.keys(FOUND).map(Number));
const isCut = (seed) => told.kind?.cut ?? kind(seed).cut;
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
await Promise.all([lane(cut, fragile), ...(told.kind?.cut ? [] : Array.from({ length: ABREAST }, () => lane(upright, desk)))]);
// Not before everything is written: sockets of sessions that failed would keep the process.
say({ done: { count, failures } }, () => process.exit(0));
