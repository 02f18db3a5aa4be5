// Scripted sessions: histories that once failed, written out step by step.
import { ensure } from "./reference_document.mjs";

/** The profile in which each step waits for the one before. */
export const SEQUENTIAL_PROFILE = { hasFaults: false, hasProposals: false, concurrent: false };

/** Sends all unconfirmed updates and waits for the reply. */
async function push(session, editor) {
  editor.send();
  await session.deliver(editor);
}

export const scriptedSessions = {
  /**
   * With a server that rebases over the composition of missed updates, the third reads "YX world"
   * and the others "XY world".
   */
  async "three people start from the same version"(session) {
    await session.begin({ text: "hello world", people: 3 });
    const [ana, ben, cleo] = session.editors;
    ana.change({ from: 0, to: 5 });
    ben.change({ from: 5, insert: "X" });
    cleo.change({ from: 0, insert: "Y" });
    for (const editor of [ana, ben, cleo]) await push(session, editor);
    await session.drain();
    await session.check();
    ensure(ana.state.doc.toString() === "XY world", () => `the text is ${JSON.stringify(ana.state.doc.toString())}`);
  },

  async "a push is sent again after its reply was lost, with more behind it"(session) {
    await session.begin({ text: "one two", people: 2 });
    const [ana, ben] = session.editors;
    ana.change({ from: 3, insert: "," });
    ben.change({ from: 0, to: 3, insert: "1" });
    await push(session, ben);
    await push(session, ana);
    ana.connection.close();
    ana.connection = null;
    ana.inbox = [];
    ana.change({ from: 8, insert: "!" });
    await session.drain();
    await session.check();
    ensure(session.reference.version === 3, () => `three updates were made, ${session.reference.version} committed`);
    ensure(ana.state.doc.toString() === "1, two!", () => `the text is ${JSON.stringify(ana.state.doc.toString())}`);
  },
};

/**
 * Seeds that failed once, with the failure. They test it as long as random numbers are drawn in the
 * same order.
 */
export const REGRESSION_SEEDS = {
  599: "parts of a change in conflict reach over each other: an editor that reconnected did not display the change",
  924: "the same, while someone decided: every editor took it for a gap and reloaded",
};
