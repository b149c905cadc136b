/**
 * A lower bound of a text's tokens, in one pass over its characters. The encoding splits a text into words, runs of signs and
 * groups of up to three digits, and no token crosses a split. So each letter after a space begins a token, and each three digits
 * of a run are at least one.
 */
export const tokenLowerBound = (text: string): number => {
  let words = 0;
  let groups = 0;
  let digits = 0;
  let afterSpace = false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code >= 48 && code <= 57) {
      if (digits % 3 === 0) groups += 1;
      digits += 1;
      afterSpace = false;
      continue;
    }
    // ASCII only: classifying other characters as letters or digits would need a table.
    if (code <= 127) digits = 0;
    if (afterSpace && ((code >= 97 && code <= 122) || (code >= 65 && code <= 90))) words += 1;
    afterSpace = code === 32;
  }
  return Math.max(words + groups, Math.ceil(text.length / maxTokenCharacters));
};

/** As `tokenLowerBound`, for a string inside JSON. Counts only letters after spaces: no escape has a space. */
export const tokenLowerBoundOfJson = (json: Uint8Array, from: number, to: number): number => {
  let words = 0;
  for (let at = from + 1; at < to; at += 1) {
    if (json[at - 1] !== 32) continue;
    const code = json[at] ?? 0;
    if ((code >= 97 && code <= 122) || (code >= 65 && code <= 90)) words += 1;
  }
  return words;
};

/** The longest token of the encoding: 128 spaces. */
const maxTokenCharacters = 128;

/**
 * The longest run of one kind of character that the encoder gets in one piece. Its time is quadratic in the run's length
 * (measured: 4,000 letters take nine times as long as in pieces of 256), and real words are shorter.
 */
const maxRun = 256;
/** The longest piece, in UTF-16 units; bounds the encoder's memory. */
const maxPiece = 64 * 1024;

/**
 * Splits a text into pieces that an encoder can count in linear time. Common texts stay whole. A cut inside a long run changes
 * the count by about one token.
 */
export const splitText = (text: string): readonly string[] => {
  const pieces: string[] = [];
  let start = 0;
  let kind = unknown;
  let run = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    const next = code > 127 ? kind : (kinds[code] ?? sign);
    run = next === kind || kind === unknown ? run + 1 : 0;
    const full = run >= maxRun || (run === 0 && at - start >= maxPiece);
    kind = next;
    // A surrogate pair must not be split, or each half would count as an invalid character.
    if (!full || isLowSurrogate(code)) continue;
    pieces.push(text.slice(start, at));
    start = at;
    run = 0;
  }
  pieces.push(start === 0 ? text : text.slice(start));
  return pieces;
};

/**
 * Kinds of characters whose runs encoders keep together. A non-ASCII character counts as the kind before it: a cut too many
 * does little harm, one too few costs seconds.
 */
const unknown = -1;
const space = 0;
const digit = 1;
const letter = 2;
const sign = 3;

const kinds = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code);
  if (/\s/.test(character)) return space;
  if (/\d/.test(character)) return digit;
  return /[a-z]/i.test(character) ? letter : sign;
});

const isLowSurrogate = (code: number): boolean => code >= 0xdc00 && code <= 0xdfff;
