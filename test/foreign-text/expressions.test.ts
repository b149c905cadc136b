import test from 'ava';
import { type Attack, attacksOn, render } from './attacks.ts';
import { cpuMs, fedLength, flat, lengthsUpTo, mostMs } from './cpu.ts';
import { rows } from './expressions.ts';
import { expressionsIn, findExpressions } from './find-expressions.ts';

/** Which text takes a pattern too long, and how long; `undefined` when none does. */
interface Finding {
  readonly attack: Attack;
  readonly length: number;
  readonly ms: number;
}

/** A text is read as the sources do: taken apart, searched all over, or matched once. */
const runner =
  (pattern: RegExp, splits: boolean) =>
  (text: string): unknown => {
    pattern.lastIndex = 0;
    if (splits) return text.split(pattern);
    return pattern.global ? text.replace(pattern, '') : pattern.exec(text);
  };

type Timer = (run: (text: string) => unknown, text: string) => number;

/** The least of several tries, which other processes don't add to. */
const carefully: Timer = (run, text) => cpuMs(() => text, run, mostMs);
/** Enough for what is slow without doubt. */
const once: Timer = (run, text) => cpuMs(() => text, run, mostMs, 1);

/** Lengthens a text step by step, so that one that takes exponential time ends the test rather than hangs it. */
const feed = (
  run: (text: string) => unknown,
  attack: Attack,
  last: number,
  timer: Timer,
): { readonly found: Finding } | { readonly lastMs: number } => {
  let lastMs = 0;
  for (const length of lengthsUpTo(last)) {
    lastMs = timer(run, flat(render(attack, length)));
    if (lastMs >= mostMs) return { found: { attack, length, ms: lastMs } };
  }
  return { lastMs };
};

/** The length at which attacks are compared: what takes quadratic time takes tens of milliseconds here already. */
const comparedLength = 8192;
/** So many of the slowest are fed at full length. */
const fedAttacks = 3;

/** The first text found, of those derived from the pattern and those given, that takes the pattern too long. */
const tooSlow = (
  pattern: RegExp,
  { worst = [], splits = false, timer = carefully }: { worst?: Attack | undefined; splits?: boolean; timer?: Timer },
): Finding | undefined => {
  const run = runner(pattern, splits);
  const timed: { readonly attack: Attack; readonly ms: number }[] = [];
  for (const attack of attacksOn(pattern)) {
    const fed = feed(run, attack, comparedLength, timer);
    if ('found' in fed) return fed.found;
    timed.push({ attack, ms: fed.lastMs });
  }
  const slowest = timed.sort((one, other) => other.ms - one.ms).slice(0, fedAttacks);
  for (const attack of [worst, ...slowest.map((one) => one.attack)]) {
    if (attack.length === 0) continue;
    const fed = feed(run, attack, fedLength, timer);
    if ('found' in fed) return fed.found;
  }
  return undefined;
};

const { expressions, made } = findExpressions();
const written = (pattern: RegExp): string => String(pattern);

test('each regular expression of the sources is in the list, and the list has no other', (t) => {
  t.true(expressions.length > 200, 'the sources were found');
  const inSources = new Set(expressions.map(({ file, written: text }) => `${file} ${text}`));
  const listed = new Set(
    Object.entries(rows).flatMap(([file, some]) => some.map(({ pattern }) => `${file} ${written(pattern)}`)),
  );
  t.deepEqual(
    [...inSources].filter((one) => !listed.has(one)),
    [],
    'these must join the list in expressions.ts, each with its worst text if it can meet text from outside',
  );
  t.deepEqual(
    [...listed].filter((one) => !inSources.has(one)),
    [],
    'these have left the sources',
  );
});

test('no regular expression is made from a text at run time, but for two in the web interface and two of own words', (t) => {
  t.deepEqual(made, [
    // Of the table of words by which a vendor says that a call failed.
    made.find((one) => one.startsWith('protocols/chat/index.ts: ')) ?? '',
    made.find((one) => one.startsWith('protocols/chat/reply-end.ts: ')) ?? '',
    // The patterns of the service's own configuration schema.
    'ui/src/config/fields/schema-faults.ts: new RegExp(pattern, "u")',
    // A text that is searched for, with every sign escaped.
    'ui/src/pages/logs/log-filter.ts: new RegExp(text.replace(/[\\\\^$.*+?()[\\]{}|]/g, "\\\\$&"), "i")',
  ]);
});

for (const [file, some] of Object.entries(rows)) {
  test(`${file}: 100 KB of the worst text take its regular expressions less than ${mostMs} ms`, (t) => {
    for (const { pattern, worst } of some) {
      const splits = expressions.some(
        (one) => one.file === file && one.written === written(pattern) && one.method === 'split',
      );
      t.is(tooSlow(pattern, { worst, splits }), undefined, written(pattern));
    }
  });
}

/** Patterns that are known to take more than linear time, each in a way of its own. */
const bad: readonly RegExp[] = [
  // Two ways to divide the same letters.
  /^(a+)+$/,
  /^(?:a|a)*$/,
  /^(?:a|ab?)*c/,
  /^(?:\w+\s?)*$/,
  /^(?:[a-z]+\.?)+@/,
  // Neighbours that take the same letters.
  /^\d+\d+$/,
  /^[\w.]+[a-z]+:/,
  /^\s*a?\s*$/,
  /^a*b?a*c/,
  /^.*,.*,.*;/,
  // A repetition that is begun anew at each place.
  /\s+$/,
  /\s*;\s*/,
  /[^&;=]+=[^&;]+/g,
  /input token count .*exceeds/i,
  /\n\s*(?:at |Traceback )/,
  /<(\w+)>.*<\/\1>/,
  /"(?:[^\\]|\\.)*":/,
  /(?=.*;)x/,
  /\/\*[\s\S]*?\*\//,
  / or (?=.* or )/g,
  // Bounded, and still thousands of steps at each place.
  /[\w-]{1,5000}:/,
];
for (const pattern of bad) {
  test(`what is slow is found: ${written(pattern)}`, (t) => {
    t.not(tooSlow(pattern, { timer: once }), undefined);
  });
}

test('what takes a text apart slowly is found', (t) => {
  t.not(tooSlow(/\s*;\s*/, { splits: true, timer: once }), undefined);
});

test('regular expressions are found wherever they stand, and nothing else is taken for one', (t) => {
  const source = `
    const a: number = 4 / 2 / 1; // /comment/
    const b = <T,>(text: T) => \`\${text} /not/ \${/in-template/.test('x')}\`;
    class C { readonly #p = /field[/]/g; m() { return '/string/'.split(/[,;]/); } }
    const d = a > 1 ? /then/i : a++ / 2;
    const e = new RegExp('from' + b), f = 'text'.match('implicit'), g = RegExp(\`x\${a}\`);
  `;
  const { expressions: found, made: texts } = expressionsIn('source.ts', source);
  t.deepEqual(
    found.map(({ written: text, method }) => [text, method]),
    [
      ['/in-template/', 'test'],
      ['/field[/]/g', ''],
      ['/[,;]/', 'split'],
      ['/then/i', ''],
    ],
  );
  t.is(texts.length, 3);
});
