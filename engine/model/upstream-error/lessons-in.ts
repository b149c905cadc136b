import type { Fault } from '../fault.ts';
import { applyLessons, betasIn, type Lesson, outputLimitIn, sentAt, type TaughtCall } from './lesson.ts';
import { leastRoom, readOutputRefusal } from './output-refusal.ts';
import { requestMembers, type TaughtField, taughtFields } from './taught-fields.ts';

type Words = Pick<Fault, 'message' | 'param' | 'code'>;

/** Characters of a refusal that are read, and names that are looked up in it. */
const maxRead = 2_000;
const maxNames = 60;
/** Lessons of one refusal. */
const maxLessons = 8;

/**
 * What a refusal (400, 422) teaches about the call that it refuses: only of fields that were sent, and that aren't the request itself.
 * Empty if that is nothing. `estimate`: the prompt's tokens, as the gateway guesses them.
 */
export const lessonsIn = (fault: Words, call: TaughtCall, estimate: number): readonly Lesson[] => {
  const output = outputLesson(fault, call, estimate);
  if (output) return [output];
  const { message, param } = fault;
  const text = inNames(message.slice(0, maxRead));
  const betas = betaLessons(text, param, call);
  if (betas.length > 0) return betas;
  const renamed = renameIn(text, call);
  if (renamed) return [renamed];
  if (param !== undefined && isOfRequest(param)) return [];
  const found = new Map<string, Lesson>();
  for (const lesson of [...lessonsOfClauses(text, param, call), ...lessonOfValue(text, call)]) {
    if (found.size >= maxLessons) break;
    if (!found.has(lesson.field) && changes(lesson, call, estimate)) found.set(lesson.field, lesson);
  }
  return [...found.values()];
};

/** Whether a refusal is of an output limit, while the prompt fits. */
export const refusesOutput = ({ message }: Words, call: Pick<TaughtCall, 'body'>): boolean => {
  const asked = outputLimitIn(call.body);
  return asked !== undefined && readOutputRefusal(message, asked) !== undefined;
};

/** Whether a refusal says that it misses this field. */
export const misses = ({ message, param }: Words, lesson: Lesson): boolean => {
  const text = message.slice(0, maxRead);
  if (!/\brequired\b|\bmissing\b|must be (?:provided|specified|set|present)/i.test(text)) return false;
  const { does, field } = lesson;
  if (does !== 'leave' && does !== 'beta' && does !== 'rename') return false;
  const own = tableRow(field);
  return namesIn(text, param).some(({ name, row }) => (own ? row === own : name === field));
};

const changes = (lesson: Lesson, call: TaughtCall, estimate: number): boolean =>
  applyLessons(call, [lesson], estimate) !== call;

/** A host's tokens for one of the estimate, where it hasn't counted: its words may be shorter, and there is one more try only. */
const uncountedPerToken = 1.25;

const outputLesson = ({ message }: Words, call: TaughtCall, estimate: number): Lesson | undefined => {
  const asked = outputLimitIn(call.body);
  const refusal = asked === undefined ? undefined : readOutputRefusal(message, asked);
  if (!refusal) return undefined;
  if (refusal.window === undefined) {
    return refusal.limit === undefined ? undefined : { does: 'limit', field: 'max_tokens', max: refusal.limit };
  }
  const isCounted = refusal.prompt !== undefined && estimate > 0;
  const perToken = isCounted ? (refusal.prompt ?? 0) / estimate : uncountedPerToken;
  const at = isCounted ? estimate : -1;
  const lesson: Lesson = { does: 'fit', field: 'max_tokens', window: refusal.window, perToken, at };
  if (changes(lesson, call, estimate)) return lesson;
  // The estimate is too high for a host that doesn't say its count.
  const guess = Math.max(leastRoom(refusal.window), refusal.window >> 2);
  return isCounted ? undefined : { does: 'limit', field: 'max_tokens', max: guess };
};

const betaLessons = (text: string, param: string | undefined, call: TaughtCall): readonly Lesson[] => {
  const sent = betasIn(call);
  if (sent.length === 0 || !/\bbeta\b/i.test(`${text} ${param ?? ''}`)) return [];
  const named = sent.filter((name) => text.includes(name));
  const isOfHeader = /\w-beta\b|beta (?:flag|header|feature)/i.test(text);
  if (named.length === 0 && !isOfHeader) return [];
  return (named.length > 0 ? named : ['*']).slice(0, maxLessons).map((field) => ({ does: 'beta', field }));
};

/** "Use 'max_completion_tokens' instead." */
const renameIn = (text: string, { body }: TaughtCall): Lesson | undefined => {
  for (const match of text.matchAll(/\b(?:use|replaced (?:by|with)|in favor of) (?:the )?[`'"]?(\w{3,40})\b/gi)) {
    const to = tableRow(match[1] ?? '');
    const name = match[1] ?? '';
    if (!to?.paths.includes(name)) continue;
    const field = to.paths.find((path) => path !== name && !path.includes('.') && Object.hasOwn(body, path));
    if (field !== undefined && !Object.hasOwn(body, name) && text.includes(field))
      return { does: 'rename', field, to: name };
  }
  return undefined;
};

/** Words of hosts in place of a field's name. */
const prose: readonly (readonly [RegExp, string])[] = [
  [/\bsupport (?:thinking|reasoning)(?=$|[,;)"'\n]|\.(?:\s|$))/gi, 'support `reasoning_effort`'],
  [/\bpenalty (?=is not)/gi, 'parameters `presence_penalty`, `frequency_penalty` '],
];

const inNames = (text: string): string => prose.reduce((plain, [words, name]) => plain.replace(words, name), text);

/** Words of a refusal of a field, or of its value. */
const refuses =
  /unsupported|\bnot\b.{0,24}(?:support|allow|permit|accept|recogni[sz]ed|available|implemented|valid|expected|enabled|expose)|n't (?:support|allow|accept)|unrecogni[sz]ed|unknown|unexpected|\bextra\b|forbidden|invalid|illegal|additional propert|deprecated|cannot|can't|can not|only\b.{0,24}\b(?:default|supports?|one)|only (?:be|allowed)|must be|should be|must not|less than|greater than|at most|too (?:many|large|high|long)|mutually exclusive|no longer|out of range/i;

/** Two fields that exclude each other. */
const excludesBoth =
  /\bboth\b|together|mutually exclusive|only one|one of (?:them|these)|simultaneous|at the same time|combin|either/i;

/** Beginnings of a list of allowed names, which aren't refused. */
const allowedList =
  /(?:supported|allowed|valid|accepted|permitted|known|possible|available) (?:parameters|fields|arguments|keys|properties|values|options|settings|levels|efforts)\b|must be one of|should be one of|expected one of|one of:|input should be|only supports?\b|(?:(?:must|should) be|expected) (?=["'`[(])/i;

/** A host's guess at what was meant. */
const suggestion = /did you mean/i;

const several = /\b(?:arguments|parameters|fields|keys|properties|inputs|members|options)\b|\w\(s\)/i;

const lessonsOfClauses = (text: string, param: string | undefined, call: TaughtCall): readonly Lesson[] => {
  // An indented line belongs to the one before it.
  const clauses = text.split(/;\s|\n(?!\s)/, maxNames);
  return clauses.flatMap((clause, index) => lessonsOfClause(clause, index === 0 ? param : undefined, call));
};

const lessonsOfClause = (clause: string, param: string | undefined, call: TaughtCall): readonly Lesson[] => {
  if (!refuses.test(clause)) return [];
  const { body } = call;
  const cuts = [clause.search(allowedList), clause.search(suggestion)].filter((at) => at > 0);
  const before = clause.slice(0, Math.min(clause.length, ...cuts));
  const named = namesIn(before, param);
  const [first] = named;
  if (!first || first.row === undefined) return [];
  const rows = [...new Set(named.flatMap(({ row }) => row ?? []))];
  const sent = rows.flatMap((row) => {
    const field = sentAt(body, nameOf(row));
    return field === undefined ? [] : [{ row, field }];
  });
  const [one, other] = sent;
  if (one && other && excludesBoth.test(before)) {
    // Of a pair, temperature stays.
    const [left, kept] = nameOf(other.row) === 'temperature' ? [one, other] : [other, one];
    return [{ does: 'leave', field: left.field, beside: kept.field }];
  }
  const isList = several.test(before) && rows.length > 1;
  const refused = (isList ? sent : sent.filter(({ row }) => row === first.row)).filter(
    // Without a limit, some hosts take no request.
    ({ row }) => row.group !== 'output limit' || isUnknown(clause),
  );
  return refused.map(({ row, field }) => lessonOf(row, field, clause, call));
};

const lessonOf = (row: TaughtField, field: string, clause: string, call: TaughtCall): Lesson => {
  // Of an object, the member that has such values.
  const valued = row.order ? row : taughtFields.find(({ group, order }) => group === row.group && order);
  const member = valued && sentAt(call.body, nameOf(valued));
  const allowed = valued?.order && member !== undefined ? allowedIn(clause, valued.order) : [];
  if (member !== undefined && allowed.length > 0) return { does: 'replace', field: member, allowed };
  if (row.group === 'sampling' && !/default/i.test(clause)) {
    const range = rangeIn(clause);
    const lesson: Lesson = { does: 'bound', field, ...range };
    // A refused value inside the range is its end, which doesn't belong to it.
    if (range && changes(lesson, call, 0)) return lesson;
  }
  // The newer name is the only one that hosts lack.
  if (field === 'max_completion_tokens') return { does: 'rename', field, to: 'max_tokens' };
  return { does: 'leave', field };
};

/** Whether a host doesn't know a field at all. */
const isUnknown = (clause: string): boolean =>
  /unsupported|unrecogni|unknown|extra|not (?:support|permit|allow)/i.test(clause);

/** A refusal that names only a value: "Invalid value: 'xhigh'. Supported values are: 'low', 'medium', and 'high'." */
const lessonOfValue = (text: string, { body }: TaughtCall): readonly Lesson[] =>
  taughtFields.flatMap((row): Lesson[] => {
    if (!row.order) return [];
    const allowed = allowedIn(text, row.order);
    if (allowed.length === 0) return [];
    const whole = text.toLowerCase();
    const isNamed = (word: string): boolean => ['`', "'", '"'].some((quote) => whole.includes(quote + word + quote));
    const value = row.order.find((word) => !allowed.includes(word) && isNamed(word));
    const field = value === undefined ? undefined : pathOf(body, row, value);
    return field === undefined ? [] : [{ does: 'replace', field, allowed }];
  });

/** Path at which a body has this value of a field. */
const pathOf = (body: TaughtCall['body'], row: TaughtField, value: string): string | undefined =>
  row.paths.find((path) => {
    let at: unknown = body;
    for (const step of path.split('.')) at = typeof at === 'object' && at !== null ? Reflect.get(at, step) : undefined;
    return at === value;
  });

/** The known values in a list of allowed ones. Words without quotes that aren't among them end it, and so do names of members. */
const allowedIn = (text: string, order: readonly string[]): readonly string[] => {
  const start = allowedList.exec(text);
  if (!start) return [];
  const list = text.slice(start.index + start[0].length, start.index + start[0].length + 400).toLowerCase();
  const words = new Set<string>();
  for (const [, quote = '', word = '', colon] of list.matchAll(/(["'`]?)\b([a-z]{2,12})\b["'`]?(:?)/g)) {
    const isValue = quote === '' ? order.includes(word) || connectives.has(word) : colon === '';
    if (!isValue) break;
    words.add(word);
  }
  return order.filter((word) => words.has(word));
};

const connectives: ReadonlySet<string> = new Set(['are', 'is', 'be', 'and', 'or', 'one', 'of', 'either', 'the']);

const ranges: readonly (readonly [RegExp, 'both' | 'max' | 'min'])[] = [
  [/between (-?\d{1,9}(?:\.\d{1,9})?) and (-?\d{1,9}(?:\.\d{1,9})?)/i, 'both'],
  [
    /(?:range|in|within|from)[^\d([-]{0,16}[([]?(-?\d{1,9}(?:\.\d{1,9})?)(?:, ?| to | ?- ?)(-?\d{1,9}(?:\.\d{1,9})?)/i,
    'both',
  ],
  [
    /(?:less than or equal to|at most|<=|no more than|not exceed|maximum(?: of| is| length)?|up to) (-?\d{1,9}(?:\.\d{1,9})?)/i,
    'max',
  ],
  [/(?:greater than or equal to|at least|>=) (-?\d{1,9}(?:\.\d{1,9})?)/i, 'min'],
];

const rangeIn = (text: string): { readonly min?: number; readonly max?: number } | undefined => {
  for (const [pattern, kind] of ranges) {
    const found = pattern.exec(text);
    if (!found) continue;
    const first = Number(found[1]);
    return kind === 'both' ? { min: first, max: Number(found[2]) } : { [kind]: first };
  }
  return undefined;
};

const nameOf = ({ names, paths }: TaughtField): string => paths[0] ?? names[0] ?? '';

/** A name without capitals and underscores: hosts spell the same one in several ways. */
const plainName = (name: string): string => name.toLowerCase().replaceAll('_', '');

/** A field of several rows is the first one's. */
const byName: ReadonlyMap<string, TaughtField> = new Map(
  taughtFields
    .flatMap((row) => [...row.names, ...row.paths].map((name): [string, TaughtField] => [plainName(name), row]))
    .toReversed(),
);

const tableRow = (name: string): TaughtField | undefined => byName.get(plainName(name));

interface Named {
  readonly name: string;
  /** Absent: the name is of the request itself. */
  readonly row: TaughtField | undefined;
}

/** The known names in a refusal, in their order; the one that the error itself names comes first. */
const namesIn = (text: string, param: string | undefined): readonly Named[] => {
  const found: Named[] = [];
  if (param !== undefined && param !== '') found.push(...knownName(param.slice(0, 200), true));
  const [, key] = /extraneous key \[(\w{1,60})\]/i.exec(text) ?? [];
  if (key !== undefined) found.push(...knownName(key, true));
  let count = 0;
  let words: readonly string[] = [];
  let end = 0;
  for (const { 0: word, index } of text.matchAll(
    /[A-Za-z_](?:[\w-]|[.[]?\d{1,4}\]?(?=[.:`'"\s]|$)|\.(?=[A-Za-z_]))*/g,
  )) {
    count += 1;
    if (count > 600 || found.length >= maxNames) break;
    words = index === end + 1 && text[end] === ' ' ? [...words.slice(-2), word] : [word];
    end = index + word.length;
    found.push(...spacedName(words), ...knownName(word, isMarked(text, index, word.length)));
  }
  return found;
};

/** A name in prose, without its underscores: "the service tier", "parallel tool calls". */
const spacedName = (words: readonly string[]): readonly Named[] => {
  for (let from = 0; from < words.length - 1; from += 1) {
    const name = words.slice(from).join('_');
    const row = tableRow(name);
    if (row) return [{ name, row }];
  }
  return [];
};

/** Whether a word stands as a field's name: in quotes, before a colon, or beside "parameter". */
const isMarked = (text: string, at: number, length: number): boolean => {
  const before = text.slice(Math.max(0, at - 24), at);
  const after = text.slice(at + length, at + length + 14);
  return (
    /[`'"[(]$/.test(before) ||
    (/\w, $/.test(before) && several.test(text.slice(Math.max(0, at - 200), at))) ||
    /(?:parameters?|fields?|arguments?|supplied|propert(?:y|ies)|keys?|options?|members?):? $/i.test(before) ||
    /^[`'"]? (?:parameter|field|argument|option|property|key|is not supported|is unsupported)/i.test(after) ||
    // "this model: …" is prose.
    (/^:/.test(after) && !/[a-z] $/i.test(before))
  );
};

const knownName = (text: string, marked: boolean): readonly Named[] => {
  const path = text.replace(/^(?:body|query|request|root|\$)\./, '').replace(/[.[]\d{1,4}\]?/g, '');
  const root = path.split('.', 1)[0] ?? '';
  const row = tableRow(path) ?? (path.includes('.') ? leafRow(path, root) : undefined);
  if (row) return row.isWord && !marked && /^[A-Z]?[a-z]*$/.test(path) ? [] : [{ name: path, row }];
  return isMember(root, marked) ? [{ name: path, row: undefined }] : [];
};

/** Members inside turns and tools that aren't what they say. */
const leaves: ReadonlySet<string> = new Set(['cache_control', 'strict']);

const leafRow = (path: string, root: string): TaughtField | undefined => {
  const steps = path.split('.');
  const leaf = steps.find((step) => leaves.has(step));
  if (leaf !== undefined) return tableRow(leaf);
  return requestMembers.has(root) ? undefined : (tableRow(steps.at(-1) ?? '') ?? tableRow(root));
};

const isMember = (name: string, marked: boolean): boolean =>
  requestMembers.has(name) && (marked || name.includes('_') || name === 'messages' || name === 'tools');

const isOfRequest = (param: string): boolean =>
  knownName(param.slice(0, 200), true).some(({ row }) => row === undefined);
