import type { JsonObject } from '../../../engine/model/json/json.ts';
import type { Loss } from '../../../engine/model/loss.ts';
import { type Case, cases, smallest } from './cases.ts';
import { clientOf, convert, type Target, targets } from './pairs.ts';

const columns: readonly (readonly [title: string, target: string])[] = [
  ['anthropic', 'anthropic claude-opus-5-5'],
  ['openai', 'openai gpt-4.1'],
  ['openai¹', 'openai gpt-5.1'],
  ['openai²', 'responses gpt-6.2-sol'],
  ['deepseek', 'deepseek deepseek-flash'],
  ['openrouter', 'openrouter z-ai/glm-5'],
  ['groq', 'groq openai/gpt-oss-120b'],
  ['gemini', 'gemini gemini-4-carbon'],
];

const titles: Readonly<Record<string, string>> = {
  messages: 'From Messages',
  chat: 'From Chat Completions',
  responses: 'From Responses',
};

/** The model of each column, and the tables of docs/losses.md: what becomes of each field from each client protocol to each vendor. */
export const lossTables = (): string =>
  [
    `Models: ${columns.map(([title, target]) => `${title} \`${targetOf(target).model}\``).join(', ')}.`,
    ...Object.entries(cases).map(([wire, rows]) => `## ${titles[wire]}\n\n${table(wire, rows)}`),
  ].join('\n\n');

const table = (wire: string, rows: readonly Case[]): string => {
  const lines = rows.map((row) => ({ what: row.what, ...line(wire, row) }));
  const everywhere = lines.filter(({ signs }) => signs.every((sign) => sign === '=')).map(({ what }) => what);
  return [
    `Carried everywhere: ${everywhere.join('; ')}.`,
    '',
    `| |${columns.map(([title]) => title).join('|')}|Becomes|`,
    `|---|${columns.map(() => ':-:').join('|')}|---|`,
    ...lines
      .filter(({ what }) => !everywhere.includes(what))
      .map(({ what, signs, becomes }) => `|${[what, ...signs, becomes].join('|')}|`),
  ].join('\n');
};

const line = (wire: string, row: Case): { readonly signs: readonly string[]; readonly becomes: string } => {
  const notes = new Map<string, string[]>();
  const signs = columns.map(([title, name]) => {
    const { sign, told } = cell(wire, row, targetOf(name));
    for (const note of told) notes.set(note, [...(notes.get(note) ?? []), title]);
    return sign;
  });
  const becomes = [...notes].map(([note, who]) => (notes.size > 1 ? `${note} (${who.join(', ')})` : note));
  return { signs, becomes: becomes.join('; ') };
};

const targetOf = (name: string): Target => {
  const found = targets.find((target) => target.name === name);
  if (!found) throw new Error(`no target ${name}`);
  return found;
};

const cell = (
  wire: string,
  { at, body }: Case,
  target: Target,
): { readonly sign: string; readonly told: readonly string[] } => {
  const asked: JsonObject = { ...smallest[wire], ...body };
  const found = convert(clientOf(wire), asked, target);
  if ('refused' in found) return { sign: '400', told: [] };
  const touching = found.losses.filter(({ path }) => isWithin(path, at) || isWithin(at, path));
  const told = touching.flatMap(({ note, outcome }) =>
    note !== undefined && outcome === 'approximated' ? [note] : [],
  );
  return { sign: signOf(touching, at), told };
};

const signOf = (losses: readonly Loss[], at: string): string => {
  if (losses.length === 0) return '=';
  return losses.some(({ path, outcome }) => outcome === 'dropped' && isWithin(at, path)) ? '✂' : '~';
};

/** Whether the path is `outer` itself or lies in it. */
const isWithin = (path: string, outer: string): boolean =>
  path === outer || path.startsWith(`${outer}.`) || path.startsWith(`${outer}[`);
