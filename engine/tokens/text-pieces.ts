/**
 * The longest stretch of one kind of character that goes to the encoder whole. Its time grows with the square of such a
 * stretch (measured: 4,000 letters cost nine times what they cost in pieces of 256); no real word is as long.
 */
const maxRun = 256;
/** The longest piece, in UTF-16 units; keeps the encoder's memory small. */
const maxPiece = 64 * 1024;

/**
 * Cuts a text into pieces that an encoder can count one by one in linear time. Common texts stay whole; a cut inside a long
 * run of letters, signs or spaces costs about one token of accuracy.
 */
export const textPieces = (text: string): readonly string[] => {
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
    // The halves of a pair must stay together, or each would count as a broken character.
    if (!full || isLowSurrogate(code)) continue;
    pieces.push(text.slice(start, at));
    start = at;
    run = 0;
  }
  pieces.push(start === 0 ? text : text.slice(start));
  return pieces;
};

/**
 * Kinds that encoders keep together. What isn't ASCII may be of any kind, so it goes on with the one before it: a cut too
 * many does little harm, one too few costs seconds.
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
