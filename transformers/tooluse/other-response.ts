import { isJsonObject, type Json, parseJson, writeJson } from '../../engine/model/json/json.ts';
import { responseMember } from './exit-tool.ts';
import { jsonStringText } from './json-string-text.ts';

/** The reply in arguments without `"response":"…"`: models use other names, other shapes, or plain text. */
export const otherResponse = (json: string): string => {
  const value = parseJson(json);
  // Some models encode the whole object as a string again.
  if (typeof value === 'string') return memberText(parseJson(value)) ?? value;
  return value === undefined ? brokenText(json) : (memberText(value) ?? json);
};

const memberText = (value: Json | undefined): string | undefined =>
  isJsonObject(value) ? (textOf(value[responseMember]) ?? onlyText(Object.values(value))) : undefined;

const textOf = (value: Json | undefined): string | undefined => {
  if (value === undefined || value === null) return undefined;
  return typeof value === 'string' ? value : writeJson(value);
};

const onlyText = (values: readonly (Json | undefined)[]): string | undefined => {
  if (values.length === 0) return '';
  const texts = values.filter((value) => typeof value === 'string');
  return texts.length === 1 ? texts[0] : undefined;
};

/** A cut-off or badly quoted object; otherwise the model wrote its reply instead of the arguments. */
const brokenText = (json: string): string => {
  const opening = /^\s*\{\s*(?:\w+|"\w+"|'\w+')\s*:\s*(["'])/.exec(json);
  if (!opening) return `{"${responseMember}":"`.startsWith(json.replace(/\s+/g, '')) ? '' : json;
  const rest = json.slice(opening[0].length);
  if (opening[1] === '"') return jsonStringText().push(rest);
  const inner = rest.trimEnd();
  const whole = inner.endsWith('}') ? inner.slice(0, -1).trimEnd() : inner;
  return whole.endsWith("'") ? whole.slice(0, -1) : rest;
};
