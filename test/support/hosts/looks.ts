import type { Found, Look, Loose } from './check.ts';

/** What hosts look at in requests, by paths from the body's root: `generationConfig.topK`, `tools[].function.strict`. */

interface Member extends Found {
  /** The last step of its path, as hosts name it that know no paths. */
  readonly name: string;
  readonly value: unknown;
}

/** These members, where they are sent. */
export const members =
  (...paths: readonly string[]): Look<Member> =>
  (body) =>
    paths.flatMap((path) => {
      const [value] = valuesAt(body, path);
      return value === undefined ? [] : [{ path, name: nameOf(path), value }];
    });

/** Members of the body, or of the object at `within`, that the host doesn't know. */
export const membersBut =
  (known: readonly string[], within = ''): Look<Member> =>
  (body) =>
    (within === '' ? [body] : valuesAt(body, within).filter(isObject)).flatMap((object) =>
      Object.keys(object)
        .filter((name) => !known.includes(name))
        .map((name) => ({ path: within === '' ? name : `${within}.${name}`, name, value: object[name] })),
    );

interface List extends Found {
  readonly names: readonly string[];
}

/** All of these members that are sent, as one find. */
export const memberList =
  (...paths: readonly string[]): Look<List> =>
  (body) => {
    const sent = paths.filter((path) => valuesAt(body, path).length > 0);
    const [path] = sent;
    return path === undefined ? [] : [{ path, names: sent.map(nameOf) }];
  };

/** Members that can't stand together. */
export const together =
  (...paths: readonly string[]): Look<List> =>
  (body) =>
    paths.every((path) => valuesAt(body, path).length > 0)
      ? [{ path: paths.at(-1) ?? '', names: paths.map(nameOf) }]
      : [];

interface OtherValue extends Member {
  readonly allowed: readonly string[];
}

/** A member with none of these values. */
export const otherThan =
  (path: string, ...allowed: readonly string[]): Look<OtherValue> =>
  (body) =>
    valuesAt(body, path)
      .filter((value) => typeof value !== 'string' || !allowed.includes(value))
      .map((value) => ({ path, name: nameOf(path), value, allowed }));

interface Outside extends Member {
  readonly value: number;
}

/** A number, or a list's length, outside of these bounds; both belong to what is allowed. */
export const outside =
  (path: string, least: number, most: number): Look<Outside> =>
  (body) =>
    valuesAt(body, path)
      .map((value) => (Array.isArray(value) ? value.length : value))
      .filter((value) => typeof value === 'number')
      .filter((value) => value < least || value > most)
      .map((value) => ({ path, name: nameOf(path), value }));

/** Names in the header of betas that the host doesn't know, as one find. */
export const betasBut =
  (...known: readonly string[]): Look<List> =>
  (_body, headers) => {
    const sent = String(headers['anthropic-beta'] ?? '').split(',');
    const names = sent.map((name) => name.trim()).filter((name) => name !== '' && !known.includes(name));
    return names.length > 0 ? [{ path: 'anthropic-beta', names }] : [];
  };

export interface Fit extends Found {
  /** Tokens of the prompt, as this host counts; of the answer, as asked for; of both, as there may be. */
  readonly prompt: number;
  readonly asked: number;
  readonly window: number;
}

/** Where requests have their output limit. Source: the four protocols' references. */
const limitPaths = ['max_tokens', 'max_completion_tokens', 'max_output_tokens', 'generationConfig.maxOutputTokens'];

const limitIn = (body: Loose): Member | undefined => members(...limitPaths)(body, {})[0];

/** A host's count of a prompt: so many characters of the request itself are a token, and its template adds some. */
export interface Count {
  readonly charactersPerToken: number;
  readonly template: number;
}

/** Members that become the prompt. */
const promptPaths = ['system', 'instructions', 'messages', 'input', 'contents', 'systemInstruction', 'tools'];

const promptTokens = (body: Loose, { charactersPerToken, template }: Count): number =>
  template +
  Math.ceil(promptPaths.reduce((sum, name) => sum + (JSON.stringify(body[name]) ?? '').length, 0) / charactersPerToken);

/** A prompt that fits, with an answer that doesn't fit beside it. */
export const outputOverWindow =
  (window: number, count: Count): Look<Fit> =>
  (body) => {
    const prompt = promptTokens(body, count);
    const limit = limitIn(body);
    return typeof limit?.value === 'number' && prompt < window && prompt + limit.value > window
      ? [{ path: limit.path, prompt, asked: limit.value, window }]
      : [];
  };

/** A prompt that leaves no room for an answer. */
export const promptOverWindow =
  (window: number, count: Count): Look<Fit> =>
  (body) => {
    const prompt = promptTokens(body, count);
    const asked = limitIn(body)?.value;
    return prompt >= window ? [{ path: '', prompt, asked: typeof asked === 'number' ? asked : 0, window }] : [];
  };

/** An output limit above the most that the model's answers may have. */
export const outputOver =
  (most: number): Look<Outside> =>
  (body) => {
    const limit = limitIn(body);
    return typeof limit?.value === 'number' && limit.value > most ? [{ ...limit, value: limit.value }] : [];
  };

const isObject = (value: unknown): value is Loose =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const nameOf = (path: string): string => path.slice(path.lastIndexOf('.') + 1);

/** The values at a path, those of all items of a list. */
const valuesAt = (value: unknown, path: string): readonly unknown[] =>
  path.split('.').reduce<readonly unknown[]>(
    (found, step) => {
      const isList = step.endsWith('[]');
      const name = isList ? step.slice(0, -2) : step;
      const inner = found.filter(isObject).map((object) => object[name]);
      return (isList ? inner.flatMap((list: unknown) => (Array.isArray(list) ? list : [])) : inner).filter(
        (one) => one !== undefined,
      );
    },
    [value],
  );
