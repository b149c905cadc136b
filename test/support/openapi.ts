import type { ExecutionContext } from 'ava';
import Type from 'typebox';
import { Compile } from 'typebox/compile';
import { isJsonObject, type JsonObject, parseJson } from '../../engine/model/json/json.ts';

/** An answer of a running service. */
interface Answered {
  readonly method: string;
  /** As asked for; a query is left out of account. */
  readonly path: string;
  readonly status: number;
  readonly contentType: string | undefined;
  readonly body: string;
}

/** Lists what in a response violates the service's own description. */
export const misfitsOf = (description: JsonObject, answer: Answered): readonly string[] => {
  const operation = operationFor(description, answer);
  if (!operation) return [`${answer.method} ${answer.path} is not described`];
  const responses = member(operation, 'responses');
  const response =
    member(responses, String(answer.status)) ?? (answer.status >= 400 ? member(responses, 'default') : undefined);
  if (!response) return [`status ${answer.status} is not described`];
  const content = member(response, 'content');
  if (!content) return answer.body === '' ? [] : ['there is a body where none is described'];
  const type = answer.contentType?.split(';')[0]?.trim() ?? '';
  const schema = member(member(content, type), 'schema');
  if (!schema) return [`the media type ${type} is not described`];
  const value: unknown = type === 'application/json' ? parseJson(answer.body) : answer.body;
  // The description is JSON Schema; the compiler takes it as it is.
  const errors = Compile(Type.Unsafe<unknown>(schema)).Errors(value);
  return errors.map(({ instancePath, message }) => `${instancePath || 'the body'} ${message}`);
};

/** Fails the test unless a response matches the description. */
export const isDescribed = (t: ExecutionContext, description: JsonObject, answer: Answered): void => {
  t.deepEqual(misfitsOf(description, answer), [], `${answer.method} ${answer.path} ${answer.status}: ${answer.body}`);
};

/** A path without variables wins over one with, as in the service. */
const operationFor = (description: JsonObject, { method, path }: Answered): JsonObject | undefined => {
  const paths = Object.keys(member(description, 'paths') ?? {});
  const asked = path.split('?')[0] ?? '';
  const fitting = paths.find((template) => template === asked) ?? paths.find((template) => fits(template, asked));
  return fitting === undefined
    ? undefined
    : member(member(member(description, 'paths'), fitting), method.toLowerCase());
};

const fits = (template: string, asked: string): boolean =>
  new RegExp(`^${template.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/\{\w+\}/g, '[^/]+')}$`).test(asked);

const member = (value: JsonObject | undefined, name: string): JsonObject | undefined => {
  const found = value?.[name];
  return isJsonObject(found) ? found : undefined;
};
