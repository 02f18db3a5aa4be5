// Seeded chance, and the words that editors of all kinds write.

const TOKENS = [
  ..."etaoin shrdlu .,", "the ", "word", "\n", "\n", "\r\n", "\r", '"', "\\", "\t", "é", "e\u0301", "漢", "א", "\u200f",
  "\u2028", "\u2029", "\u0085", "😀", "🎉", "𝒜", "🇩🇪", "👨‍👩‍👧", "👍🏽", "❤️",
];
const KEYS = [..."etaoin shrdlu", " ", "é", "\n", "😀", "👍🏽"];

export class Dice {
  /** mulberry32: small, seeded, the same everywhere. */
  constructor(seed) {
    this.state = Math.imul(seed + 1, 0x9e3779b1) >>> 0;
  }

  next() {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  }

  /** 0 to `count - 1`. */
  below(count) {
    return Math.floor(this.next() * count);
  }

  chance(share) {
    return this.next() < share;
  }

  pick(list) {
    return list[this.below(list.length)];
  }

  /** `[[weight, thing], …]` */
  weighed(list) {
    let at = this.next() * list.reduce((sum, [weight]) => sum + weight, 0);
    return list.find(([weight]) => (at -= weight) < 0)?.[1] ?? list.at(-1)[1];
  }

  words(most) {
    return Array.from({ length: 1 + this.below(most) }, () => this.pick(TOKENS)).join("");
  }

  key() {
    return this.pick(KEYS);
  }
}
