// The editor process: seeded sessions of real CodeMirror states with real socket.io clients against
// a running server. node converge.mjs MODULES < one line {url, tokens, people, faultyServers: [{url
// | urls, tokens, people, mayRefuse}], script, seeds, seconds, allAtOnce, profile, reviewRules}
// After its seeds it runs the following ones until the seconds are over. A given profile is that of
// all sessions. With `reviewRules`, sessions use all rules of review. Output, as JSON lines:
// {fault: 0} asks for a fault of the first of the faulty servers, which is answered by {url}, or
// {urls} of several; {turn: 0} says that a person wrote or decided during a fault that lasts; in
// the end {done: {count, failures}}.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { SEQUENTIAL_PROFILE, REGRESSION_SEEDS, scriptedSessions } from "./converge/scripted_sessions.mjs";
import { ReviewSession, reviewProfile } from "./converge/review_session.mjs";
import { InvariantViolation } from "./converge/reference_document.mjs";
import { EditingSession, sessionProfile } from "./converge/editing_session.mjs";

/** Sessions at a time on the server without faults. */
const CONCURRENT_SESSIONS = 4;
/** The same for review sessions, which mostly wait. */
const CONCURRENT_REVIEW_SESSIONS = 8;
/** Events before a failure that are reported. */
const TRACE_LENGTH = 40;
/** Failures after which no further session is run. */
const MAX_FAILURES = 5;

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const readMessage = async () => JSON.parse((await lines.next()).value);
const writeMessage = (line, written) => process.stdout.write(JSON.stringify(line) + "\n", written);

const options = await readMessage();
const { turns } = JSON.parse(readFileSync(options.script));
const proposals = turns.filter(({ when }) => when).map(({ when, content }) => ({ prompt: when.user, text: content.at(-1).input.new_content }));
const { url, tokens, people } = options;
const server = { url, tokens, people, proposals };
const faultyServers = options.faultyServers.map((description, index) => {
  const { tokens, people } = description;
  let urls = description.urls ?? [description.url], next = 0;
  return {
    tokens,
    people,
    proposals,
    /** Several servers, which may also be shut down. */
    isSeveral: Boolean(description.urls),
    /** It may refuse what it cannot store. Clients then retry. */
    mayRefuse: Boolean(description.urls ?? description.mayRefuse),
    // Connections use several servers in turn.
    get url() {
      return urls[next++ % urls.length];
    },
    /** Says that a person wrote or decided during a lasting fault. */
    tookTurn() {
      writeMessage({ turn: index });
    },
    async injectFault() {
      writeMessage({ fault: index });
      const reply = await readMessage();
      urls = reply.urls ?? [reply.url];
    },
  };
});
const [SessionClass, profileOf] = options.reviewRules ? [ReviewSession, reviewProfile] : [EditingSession, sessionProfile];

const count = { sessions: 0 }, failures = [];

async function attempt(session, name, run) {
  try {
    for (const [event, times] of Object.entries(await run())) count[event] = (count[event] ?? 0) + times;
    count.sessions++;
  } catch (error) {
    failures.push({ seed: name, why: error instanceof InvariantViolation ? error.message : error.stack, trace: session.trace.slice(-TRACE_LENGTH) });
  }
}

async function runSessions(nextSeed, on) {
  for (let seed; (seed = nextSeed()) !== undefined && failures.length < (options.allAtOnce ? 1 : MAX_FAILURES); ) {
    const session = new SessionClass({ seed, server: on, allAtOnce: options.allAtOnce, profile: { ...profileOf(seed), ...options.profile } });
    await attempt(session, `${seed}`, () => session.run());
  }
}

const isAll = !options.allAtOnce && !options.profile && !options.reviewRules;
if (isAll) {
  for (const [name, script] of Object.entries(scriptedSessions)) {
    const session = new EditingSession({ seed: 0, server, profile: SEQUENTIAL_PROFILE });
    await attempt(session, name, () => session.run(script));
  }
}
if (options.seeds.length > 1 && isAll) options.seeds.push(...Object.keys(REGRESSION_SEEDS).map(Number));
const hasFaults = (seed) => options.profile?.hasFaults ?? profileOf(seed).hasFaults;
const until = performance.now() + 1000 * (options.seconds ?? 0);

/** Returns a function that gives the seeds with or without faults, one after the other. */
function seedQueue(withFaults) {
  const given = options.seeds.filter((seed) => hasFaults(seed) === withFaults);
  let next = Math.max(...options.seeds) + 1;
  return () => {
    if (given.length > 0 || performance.now() >= until) return given.shift();
    while (hasFaults(next) !== withFaults) next++;
    return next++;
  };
}

const seedsWithoutFaults = seedQueue(false), seedsWithFaults = seedQueue(true);
await Promise.all([...faultyServers.map((on) => runSessions(seedsWithFaults, on)), ...(options.profile?.hasFaults ? [] : Array.from({ length: options.reviewRules ? CONCURRENT_REVIEW_SESSIONS : CONCURRENT_SESSIONS }, () => runSessions(seedsWithoutFaults, server)))]);
// Sockets of failed sessions would keep the process running.
writeMessage({ done: { count, failures } }, () => process.exit(0));
