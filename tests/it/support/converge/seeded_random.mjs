// A seeded random number generator, and the text that simulated editors type.

const TEXT_PIECES = [
  ..."etaoin shrdlu .,", "the ", "word", "\n", "\n", "\r\n", "\r", '"', "\\", "\bits", "é", "e\u0301", "漢", "א", "\u200f",
  "\u2028", "\u2029", "\u0085", "😀", "🎉", "𝒜", "🇩🇪", "👨‍👩‍👧", "👍🏽", "❤️",
];
const CHARACTERS = [..."etaoin shrdlu", " ", "é", "\n", "😀", "👍🏽"];

/** A seeded source of random numbers, choices and text. */
export class SeededRandom {
  /** mulberry32: small, seeded, the same everywhere. */
  constructor(seed) {
    this.state = Math.imul(seed + 1, 0x9e3779b1) >>> 0;
  }

  next() {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let bits = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
    return ((bits ^ (bits >>> 14)) >>> 0) / 4294967296;
  }

  /** Returns 0 to `count - 1`. */
  below(count) {
    return Math.floor(this.next() * count);
  }

  chance(share) {
    return this.next() < share;
  }

  pick(list) {
    return list[this.below(list.length)];
  }

  /** Picks one of `[[weight, thing], …]` with a probability by weight. */
  weightedPick(list) {
    let at = this.next() * list.reduce((sum, [weight]) => sum + weight, 0);
    return list.find(([weight]) => (at -= weight) < 0)?.[1] ?? list.at(-1)[1];
  }

  words(maxPieces) {
    return Array.from({ length: 1 + this.below(maxPieces) }, () => this.pick(TEXT_PIECES)).join("");
  }

  character() {
    return this.pick(CHARACTERS);
  }
}
