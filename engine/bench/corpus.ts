/**
 * The text that everything is cut from: prose, code, quotation marks, backslashes, tabs, line ends, letters of two, three and
 * four bytes. What is lost, doubled or decoded wrongly shows when the client compares.
 */
const corpus = [
  'The switch at the northern yard was frozen; "again", said Åse, and lit the lamp.\n\n',
  '```ts\nconst path = "C:\\\\rails\\\\yard";\nfor (const car of train) {\n\tcar.route(path + "/" + car.id); // 100 %\n}\n```\n',
  'Größe und Maß: 12 €/m², ≤ 3 ‰ Gefälle — naïve façades, coöperate, œuvre.\n',
  '転轍機は静かに動いた。列車が来る。「出発」と駅長が言った。\n',
  'Signals: 🚦🚂🚃🚃👩‍🔧 ✓ ✗ ∑ ∞ → ⇄.\r\n',
  'A list:\n1. couple the cars,\n2. check the brakes ("slowly!"),\n3. write {"state":"ready","at":[1,2,3]} down.\n',
  'Плавно, без рывков, состав тронулся в 06:15.\n',
  '<tag attr="x">&amp; nothing is decoded twice, not even \\u0041 or \\n.</tag>\n',
  'It went on for a while like this, through cuttings and over low bridges, and nobody spoke much before the summit.\n',
].join('');

/** By characters, so that a cut never halves one. */
const characters = Array.from(corpus);

/** `length` characters of the corpus from `from` on, beginning again at its end. */
export const corpusText = (from: number, length: number): string => {
  const pieces: string[] = [];
  let at = from % characters.length;
  for (let left = Math.floor(length); left > 0; ) {
    const taken = characters.slice(at, at + left);
    pieces.push(taken.join(''));
    left -= taken.length;
    at = 0;
  }
  return pieces.join('');
};

/** Digits of a time stamp: microseconds of the machine's monotonic clock. */
export const stampDigits = 16;

/** Stands where the upstream will write the time of sending. Holds nothing that JSON escapes. */
export const emptyStamp = `[t${'0'.repeat(stampDigits)}]`;

/** Finds every stamp; the digits are its one group. */
export const stampPattern = /\[t(\d{16})\]/g;

/** How the answer's text is made. */
export interface AnswerText {
  readonly deltas: number;
  /** Characters of each delta. */
  readonly deltaChars: number;
  /** Each delta begins with the time at which it was sent. */
  readonly stamped: boolean;
}

/** The text of one delta, without its stamp. */
export const deltaText = (index: number, { deltaChars }: AnswerText): string =>
  corpusText(index * deltaChars, deltaChars);

/** The whole answer, without stamps. */
export const answerText = ({ deltas, deltaChars }: AnswerText): string => corpusText(0, deltas * deltaChars);
