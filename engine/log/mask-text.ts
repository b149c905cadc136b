/** What a secret is replaced with. The rules below leave it as it is, so that masking twice changes nothing. */
export const masked = '***';

/** Below this length a configured secret isn't looked for in texts: it would be found in ordinary words. */
const minSecretLength = 6;

/** One scan that finds nothing in most texts, before the rules that take several. */
const suspect =
  /bearer|authorization|cookie|key|secret|passw|token|credential|sig=|auth=|[sprg]k[-_]|hf_|xai-|gh[pousr]_|AIza|eyJ|:\/\/[^\s/]*@/i;

/** After `name:` these begin a sentence about the field rather than its value. */
const prose = '(?!(?:must|is|was|are|has|not|no|the|a|an|may|can|should|missing|required|invalid|expected|unknown)\\b)';

const rules: readonly (readonly [RegExp, string])[] = [
  [/\b(bearer(?:%20|[\s:+\\"'])+)[^\s\\"',;&]+/gi, `$1${masked}`],
  [/((?:authorization|cookie)[\\"']*\s*[:=]\s*[\\"']*)(?=[^\s\\"'])[^\\"'\r\n]+/gi, `$1${masked}`],
  [
    new RegExp(
      `((?:api[-_ ]?key|secret|passw(?:or)?d|credential|(?<!max[-_]?)token)[\\\\"']*\\s*[:=]\\s*[\\\\"']*)${prose}[^\\s\\\\"',;&)}\\]]+`,
      'gi',
    ),
    `$1${masked}`,
  ],
  [/([?&;](?:key|sig|auth)=)[^\s\\"'&;#]+/gi, `$1${masked}`],
  // The shapes that vendors and code hosts give their keys, and JSON web tokens.
  [/\b(?:[sprg]k|gsk|hf|xai|gh[pousr])[-_][\w-]{6,}/g, masked],
  [/\bAIza[\w-]{10,}/g, masked],
  // Only where a word begins, or a text full of beginnings would be scanned once for each.
  [/(?<![\w-])eyJ[\w-]{6,}\.[\w-]+(?:\.[\w-]*)?/g, masked],
  [/(:\/\/)[^\s/@]+@/g, `$1${masked}@`],
];

/**
 * A function that takes secrets out of texts: those that `secrets` lists, word for word (also JSON- or URL-encoded), and
 * whatever looks like a key, a bearer token, a named secret or a URL's password. It masks too much rather than too little.
 * `secrets` is asked for each text, so that it may change with the configuration; a new list must be a new array.
 */
export const textMask = (secrets: () => readonly string[]): ((text: string) => string) => {
  let listed: readonly string[] | undefined;
  let needles: readonly string[] = [];
  const known = new Map<string, string>();
  const mask = (text: string): string => {
    let clean = text;
    for (const needle of needles) if (clean.includes(needle)) clean = clean.replaceAll(needle, masked);
    if (!suspect.test(clean)) return clean;
    for (const [pattern, replacement] of rules) clean = clean.replace(pattern, replacement);
    return clean;
  };
  return (text) => {
    const given = secrets();
    if (given !== listed) {
      listed = given;
      needles = spellings(given);
      known.clear();
    }
    if (text.length > mostKnownChars) return mask(text);
    const before = known.get(text);
    if (before !== undefined) return before;
    if (known.size >= mostKnown) known.clear();
    const clean = mask(text);
    known.set(text, clean);
    return clean;
  };
};

/** Most texts of a log are the same few, over and over: models, URLs, reasons. */
const mostKnown = 500;
const mostKnownChars = 256;

/** All the ways in which these secrets may be written. Longest first, since one may be a part of another. */
export const spellings = (secrets: readonly string[]): string[] => {
  const long = secrets.filter((secret) => secret.length >= minSecretLength);
  const all = long.flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1), encodeUrl(secret)]);
  return [...new Set(all)].sort((a, b) => b.length - a.length);
};

const encodeUrl = (secret: string): string => {
  try {
    return encodeURIComponent(secret);
  } catch {
    // A lone surrogate has no such spelling.
    return secret;
  }
};
