// Sessions that are told, not drawn: how things went wrong somewhere once.
import { must } from "./ledger.mjs";

/** Everything in the order in which it is told. */
export const CALM = { cut: false, reviewed: false, racing: false };

/** Sends what is not confirmed and waits for the answer. */
async function push(session, editor) {
  editor.send();
  await session.deliver(editor);
}

export const cases = {
  /**
   * With a server that rebases over the composition of what was missed, the third reads "YX world"
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
    must(ana.state.doc.toString() === "XY world", () => `the text is ${JSON.stringify(ana.state.doc.toString())}`);
  },

  async "a push is sent again after its answer was lost, with more behind it"(session) {
    await session.begin({ text: "one two", people: 2 });
    const [ana, ben] = session.editors;
    ana.change({ from: 3, insert: "," });
    ben.change({ from: 0, to: 3, insert: "1" });
    await push(session, ben);
    await push(session, ana);
    ana.line.close();
    ana.line = null;
    ana.inbox = [];
    ana.change({ from: 8, insert: "!" });
    await session.drain();
    await session.check();
    must(session.ledger.version === 3, () => `three updates were made, ${session.ledger.version} taken`);
    must(ana.state.doc.toString() === "1, two!", () => `the text is ${JSON.stringify(ana.state.doc.toString())}`);
  },
};

/**
 * Seeds that failed once, with what they found; they find it as long as the dice are thrown in the
 * same order.
 */
export const FOUND = {
  599: "parts of a change in conflict reach over each other: an editor that came back did not draw the change",
  924: "the same, while somebody decided: every editor took it for a gap and loaded anew",
};
