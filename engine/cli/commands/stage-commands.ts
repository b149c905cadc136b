import { existsSync, statSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { readConfig } from '../../config/read.ts';
import { messageOf, quoted } from '../../model/fault.ts';
import { isJsonObject, type JsonObject, parseJson } from '../../model/json/json.ts';
import { tryApart } from '../../trial/try-apart.ts';
import type { TrialReport } from '../../trial/try-stage.ts';
import { type Cli, CommandError } from '../cli.ts';
import { captureOf } from './capture-commands.ts';
import { endings } from './new-stage.ts';

/** Options of `junctor stage try`, as typed. */
interface TryOptions {
  readonly capture?: string;
  readonly options?: string;
  readonly ask?: readonly string[];
  readonly text?: string;
  readonly answer?: string;
  readonly json?: boolean;
}

/**
 * `junctor stage try FILE`: runs a custom transformer on a request and an answer, and says what it changes, what it costs, and whether cuts,
 * clients that go, or its own changes in place do harm. Calls no provider. Returns 1 if something is wrong.
 */
export const tryStageFile = async (cli: Cli, written: string, given: TryOptions): Promise<number> => {
  const stage = [written, ...endings.map((ending) => `${written}.${ending}`)].map((file) => resolve(file)).find(isFile);
  if (stage === undefined) throw new CommandError(`There is no file ${written}.`);
  const entry = await entryOf(cli, stage);
  const options = given.options === undefined ? entry?.options : optionsIn(given.options);
  const report = await tryApart({
    stage,
    ask: answersOf(entry?.ask ?? [], given.ask ?? []),
    ...(options && { options }),
    ...(given.text !== undefined && { request: given.text }),
    ...(given.answer !== undefined && { answer: given.answer }),
    ...(given.capture !== undefined && { capture: await captureGiven(cli, given.capture) }),
  }).catch((error: unknown) => {
    throw new CommandError(messageOf(error));
  });
  const lines = given.json ? [JSON.stringify(report, null, 2)] : reportLines(report, relative(process.cwd(), stage));
  for (const line of lines) cli.print(line);
  for (const problem of report.problems) cli.warn(problem);
  return report.problems.length > 0 ? 1 : 0;
};

const isFile = (file: string): boolean => statSync(file, { throwIfNoEntry: false })?.isFile() ?? false;

/** The configuration's entry for a module, if it has a usable one. */
const entryOf = async ({ home, env }: Cli, file: string) => {
  const read = await readConfig(home, env);
  if (read.type !== 'valid') return undefined;
  return read.config.transformers.find(({ path }) => path !== undefined && resolve(home, path) === file);
};

const optionsIn = (text: string): JsonObject => {
  const options = parseJson(text);
  if (isJsonObject(options)) return options;
  throw new CommandError('--options must be a JSON object.');
};

/** Default stand-in for models that a stage asks. */
const usualAnswer = 'ok';

/** The answers of what may be asked: `provider,model=text`. */
const answersOf = (allowed: readonly string[], given: readonly string[]): Readonly<Record<string, string>> => {
  const answers: Record<string, string> = Object.fromEntries(allowed.map((to) => [to, usualAnswer]));
  for (const text of given) {
    const [to = '', ...words] = text.split('=');
    if (!to.includes(',')) throw new CommandError('--ask must be `provider,model`, or `provider,model=answer`.');
    answers[to.trim()] = words.length > 0 ? words.join('=') : usualAnswer;
  }
  return answers;
};

/** A file, or the id of a request that the running service has captured. */
const captureGiven = async (cli: Cli, given: string): Promise<string | object> =>
  existsSync(given) ? resolve(given) : captureOf(cli, given);

const reportLines = (report: TrialReport, file: string): readonly string[] => {
  const { stage, request, call, events, calls, fault, losses, log, cuts, leaves, cost } = report;
  const asked = calls.map(({ kind, to }) => (to === null ? 'next' : `${kind === 'ask' ? 'ask' : 'next to'} ${to}`));
  const isChecked = report.problems.length === 0;
  return [
    row('stage', `${stage} (${file})`),
    ...(request.after ? changes('request', request.before, request.after) : [row('request', 'no provider gets it')]),
    ...(call ? changes('call', call.before, call.after) : []),
    ...changes('answer', events.before, events.after),
    ...(asked.length > 0 ? [row('calls', asked.join(', '))] : []),
    ...(fault === null ? [] : [row('error', fault)]),
    ...(losses.length === 0 ? [row('losses', 'none')] : []),
    ...losses.map(({ path, outcome, note }) =>
      row('loss', `${path} ${outcome}${note === undefined ? '' : ` (${note})`}`),
    ),
    ...log.map(({ text, fields }) => row('log', `${text} ${JSON.stringify(fields)}`)),
    ...(isChecked
      ? [row('cuts', `${cuts} places, no difference`), row('leaves', `${leaves} points, nothing left`)]
      : []),
    ...(isChecked ? [row('in place', 'nothing changed')] : []),
    ...(cost
      ? [row('time', `${cost.requestMs.toFixed(2)} ms per request, ${cost.deltaUs.toFixed(1)} µs per delta`)]
      : []),
  ];
};

const row = (name: string, text: string): string => `${name.padEnd(10)}${text}`;

/** More changes than are of use on a screen. */
const maxChanges = 20;

/** Lines of what differs, with its path. */
const changes = (name: string, before: unknown, after: unknown): readonly string[] => {
  const found = differences(before, after, '');
  if (found.length === 0) return [row(name, 'unchanged')];
  const more = found.length - maxChanges;
  return [
    ...found.slice(0, maxChanges).map(({ at, was, is }) => row(name, `${at}: ${shown(was)} → ${shown(is)}`)),
    ...(more > 0 ? [row(name, `… and ${more} more; --json has all`)] : []),
  ];
};

const shown = (value: unknown): string =>
  value === undefined ? 'none' : typeof value === 'string' ? quoted(value) : quoted(JSON.stringify(value)).slice(1, -1);

interface Difference {
  readonly at: string;
  readonly was: unknown;
  readonly is: unknown;
}

const differences = (was: unknown, is: unknown, at: string): readonly Difference[] => {
  if (Object.is(was, is)) return [];
  const areLists = Array.isArray(was) && Array.isArray(is);
  if (!areLists && !(isJsonObject(was) && isJsonObject(is))) return [{ at, was, is }];
  const [one, other] = [Object(was), Object(is)];
  return [...new Set([...Object.keys(one), ...Object.keys(other)])].flatMap((key) => {
    const place = areLists ? `${at}[${key}]` : at === '' ? key : `${at}.${key}`;
    return differences(one[key], other[key], place);
  });
};
