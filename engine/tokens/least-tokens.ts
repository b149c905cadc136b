/**
 * A number of tokens that a text has at least, found in one look at each character. The encoding cuts a text into words, runs of
 * signs and groups of up to three digits before it makes tokens, and no token reaches over a cut: wherever a space comes before
 * a letter a new word begins, and a run of digits has a token for every three.
 */
export const leastTokens = (text: string): number => {
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
    // Only ASCII: of other characters it would take a table to know whether they are letters, or go on with a number.
    if (code <= 127) digits = 0;
    if (afterSpace && ((code >= 97 && code <= 122) || (code >= 65 && code <= 90))) words += 1;
    afterSpace = code === 32;
  }
  return Math.max(words + groups, Math.ceil(text.length / mostCharacters));
};

/** The longest token of the encoding: 128 spaces. */
const mostCharacters = 128;
