import type { ModelPrice } from '../model/models/model-facts.ts';
import type { Patient } from './change.ts';
import { sayChange } from './change.ts';
import { unexamined } from './checks.ts';
import { bound, type CheckResult } from './examine.ts';

/** Tokens of a prompt, but for the two long ones. */
const usualPrompt = 200;
const longPrompts = 2 * 2_500;

/** The cost limit of an examination, shown before it begins. */
export const boundLine = ({ provider, model }: Patient, price: ModelPrice | undefined): string => {
  const { usual, requests, output } = bound;
  const usd = price && (output * price.output + (requests * usualPrompt + longPrompts) * price.input) / 1_000_000;
  const money = usd === undefined ? 'their price is not known' : `about ${usd.toFixed(2)} USD`;
  return `Examines ${provider},${model} by about ${usual} short requests: at most ${requests}, with at most ${output.toLocaleString('en')} tokens of output, ${money}. Most answers have a few words.`;
};

const words = { sound: 'ok', deviation: 'deviates', open: 'unclear' } as const;

/** Characters of an answer that are shown. */
const shownChars = 400;

/** The start of an answer on one line. */
export const shownBytes = (text: string): string => {
  const line = text
    .slice(0, 4 * shownChars)
    .replace(/\p{C}+/gu, ' ')
    .trim();
  return line.length > shownChars ? `${line.slice(0, shownChars)}…` : line;
};

/** The lines of a finding in the table. */
export const findingLines = (
  patient: Patient,
  { name, verdict, cure, isLearned, bytes }: CheckResult,
): readonly string[] => [
  row(name, words[verdict.type], verdict.detail ?? ''),
  ...(bytes !== undefined && bytes !== '' ? [row('', '', `it sent: ${shownBytes(bytes)}`)] : []),
  ...(cure ? [row('', '', `heals it: ${sayChange(patient, cure)}`)] : []),
  ...(verdict.type === 'deviation' && !cure
    ? [row('', '', isLearned ? learned : 'no setting is known that heals it')]
    : []),
];

const learned = 'no setting heals it; the service learns it from its first refusal';

const row = (name: string, word: string, says: string): string =>
  `${name.padEnd(24)}${word.padEnd(10)}${says}`.trimEnd();

/** The skipped checks, with the reason. */
export const unexaminedLines: readonly string[] = unexamined.map((what) => row('', '', `not examined: ${what}`));
