import { errorText } from '../fault.ts';
import { isJsonObject, type Json, type JsonObject, parseJson } from '../json/json.ts';

/** The text of an upstream's error, in any shape. */
export interface ErrorReport {
  /** Its words for people; empty if there are none. Keys in them are masked. */
  readonly message: string;
  /** Its types, codes and statuses, those of the innermost object first. */
  readonly words: readonly string[];
  readonly code: string | undefined;
  readonly type: string | undefined;
  readonly param: string | undefined;
  /** The HTTP status that the error itself names. */
  readonly status: number | undefined;
}

/**
 * Reads an error: the body of a response with a failure status, or what a reply holds in its place. Hosts use many shapes: an
 * object below `error` or at the top level, a list of either, a validator's list of fields, a text, JSON inside a text. So the
 * words are looked for, rather than one shape expected.
 */
export const readError = (value: unknown): ErrorReport => {
  const objects: JsonObject[] = [];
  const message = wordsOf(value, objects, 0);
  const inner = objects.toReversed();
  const words = [...new Set(inner.flatMap(labelsOf))].filter((word) => word !== '' && word !== 'error');
  return {
    message: maskKeys(message),
    words,
    code: firstWord(inner, ({ code, status_code }) => code ?? status_code),
    type: firstWord(inner, ({ type }) => (type === 'error' ? undefined : type)),
    param: firstWord(inner, ({ param }) => param),
    status: inner.flatMap(statusesIn).find(isStatus),
  };
};

const labelsOf = ({ code, status_code, type, status, metadata }: JsonObject): string[] =>
  [code, status_code, type, status, isJsonObject(metadata) ? metadata.error_type : undefined].map(wordOf);

/** Reads the body of a response with a failure status, JSON or not. Markup has no words. */
export const readErrorBody = (body: string): ErrorReport => {
  const text = body.trim();
  const value = parseJson(text);
  const report = readError(value === undefined && !isMarkup(text) ? text : value);
  if (report.message !== '' || !hasOtherText(value)) return report;
  return { ...report, message: maskKeys(text.slice(0, maxRawText)) };
};

/** Whether a text is a web page, which a proxy or a firewall sent in the upstream's place. */
export const isWebPage = (contentType: string, body: string): boolean =>
  /\bhtml\b/i.test(contentType) || /^\s{0,100}<(?:!doctype html|html|head|body|title)\b/i.test(body.slice(0, 200));

/** The title of a web page; empty without one. */
export const pageTitle = (body: string): string => {
  const start = body.slice(0, maxPageStart);
  const from = start.toLowerCase().indexOf('<title');
  const to = from < 0 ? -1 : start.indexOf('<', from + 1);
  return to < 0
    ? ''
    : start
        .slice(start.indexOf('>', from) + 1, to)
        .replace(/\s+/g, ' ')
        .trim();
};

const maxPageStart = 4096;

/** Characters of a body without known members that are shown. */
const maxRawText = 500;

/** Errors nest a few levels; JSON inside a text counts as one. */
const maxDepth = 8;

/** Items of a list whose words are shown. */
const maxItems = 5;

/** Members that hold an error's words, by their names without case and underscores; the first with words counts. */
const wordMembers = [
  'error',
  'errors',
  'message',
  'msg',
  'errormsg',
  'errormessage',
  'statusmsg',
  'baseresp',
  'detail',
  'errordescription',
  'description',
  'title',
] as const;

/** Returns the words inside a value, and adds the objects on the way to them. */
const wordsOf = (value: unknown, objects: JsonObject[], depth: number): string => {
  if (depth > maxDepth) return '';
  if (typeof value === 'string') return wordsOfText(value, objects, depth);
  if (Array.isArray(value)) return wordsOfList(value, objects, depth);
  return isJsonObject(value) ? wordsOfObject(value, objects, depth) : '';
};

const wordsOfText = (value: string, objects: JsonObject[], depth: number): string => {
  const text = errorText(value).trim();
  const inner = /^[{[]/.test(text) ? parseJson(text) : undefined;
  return (inner === undefined ? '' : wordsOf(inner, objects, depth + 1)) || withoutTrace(text);
};

const wordsOfList = (list: readonly unknown[], objects: JsonObject[], depth: number): string => {
  const texts = list.slice(0, maxItems).map((item, index) => {
    // The codes of the first item are the error's.
    const words = wordsOf(item, index === 0 ? objects : [], depth + 1);
    const place = isJsonObject(item) && Array.isArray(item.loc) ? item.loc.join('.') : '';
    return place !== '' && words !== '' ? `${place}: ${words}` : words;
  });
  return errorText([...new Set(texts.filter((text) => text !== ''))].join('; '));
};

const wordsOfObject = (object: JsonObject, objects: JsonObject[], depth: number): string => {
  objects.push(object);
  const members = new Map<string, unknown>();
  for (const name in object) members.set(plainName(name), object[name]);
  // A text `error` beside a message is a short name for the status.
  const isName = typeof members.get('error') === 'string' && typeof members.get('message') === 'string';
  for (const name of wordMembers) {
    if (name === 'error' && isName) continue;
    const words = wordsOf(members.get(name), objects, depth + 1);
    if (words !== '') return [words, ...moreWords(object, name, words)].join(': ');
  }
  return '';
};

/** The detail that some hosts put beside a general message: a detail, or the words of the host behind them. */
const moreWords = ({ detail, metadata }: JsonObject, from: string, words: string): string[] => {
  const raw = isJsonObject(metadata) ? metadata.raw : undefined;
  return [from === 'detail' ? undefined : detail, raw]
    .filter((text) => typeof text === 'string')
    .map((text) => errorText(text).trim())
    .filter((text) => text !== '' && text !== words);
};

const plainName = (name: string): string => name.toLowerCase().replaceAll('_', '');

/** A text without the stack trace behind it, and none that is only a stack trace or markup. */
const withoutTrace = (text: string): string => {
  const message = text.split(/\n[^\S\n]*(?:at |Traceback |File ")/, 1)[0]?.trimEnd() ?? '';
  return message.startsWith('Traceback ') || isMarkup(message) ? '' : message;
};

/** Whether a text is HTML or XML. Some hosts begin their words with the status in the same brackets: `<400> …`. */
const isMarkup = (text: string): boolean => /^<[a-z!/?]/i.test(text);

/** A type, code or status as text: hosts send numbers as well. */
const wordOf = (value: Json | undefined): string =>
  typeof value === 'number' ? String(value) : typeof value === 'string' ? errorText(value).trim() : '';

const firstWord = (objects: readonly JsonObject[], pick: (object: JsonObject) => Json | undefined) =>
  objects.map((object) => wordOf(pick(object))).find((word) => word !== '');

/** Whether a number is that of a failure. */
export const isStatus = (value: number): boolean => Number.isInteger(value) && value >= 400 && value <= 599;

/** Statuses in the members that may hold one, as numbers. */
const statusesIn = ({ status_code, statusCode, code, status }: JsonObject): number[] =>
  [status_code, statusCode, code, status]
    .filter((value) => typeof value === 'number' || (typeof value === 'string' && /^\d{3}$/.test(value)))
    .map(Number);

/** Whether a value without known words holds any text but types and codes. */
const hasOtherText = (value: unknown): boolean =>
  isJsonObject(value) &&
  Object.entries(value).some(
    ([name, member]) => typeof member === 'string' && member !== '' && !isLabel(plainName(name)),
  );

const isLabel = (name: string): boolean =>
  ['code', 'type', 'status', 'object', 'param', 'requestid', 'id', 'timestamp'].includes(name) ||
  wordMembers.some((member) => member === name);

/** Masks everything that looks like a key. */
const maskKeys = (message: string): string =>
  message.replace(/\b(?:sk|pk|gsk|xai)[-_][\w*-]{8,}|\bAIza[\w-]{20,}|\b(?:Bearer|Basic)\s+\S+/gi, '***').trim();
