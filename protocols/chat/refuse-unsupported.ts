import { fail } from '../../engine/model/fault.ts';
import { isJsonObject, type Json, type JsonObject } from '../../engine/model/json/json.ts';

/** Throws the fault for a field that this endpoint doesn't support. */
export const unsupported = (param: string, what = `${param} is not supported on this route.`): never =>
  fail('unsupported', what, { param, code: 'unsupported_parameter' });

/** Whether a field's value requests something; null never does. */
const refusals: Readonly<Record<string, (value: Json) => boolean>> = {
  n: (value) => value !== 1,
  logprobs: (value) => value !== false,
  top_logprobs: (value) => value !== 0,
  audio: () => true,
  modalities: (value) => !Array.isArray(value) || value.some((modality) => modality !== 'text'),
  store: (value) => value !== false,
  prediction: () => true,
  previous_response_id: () => true,
  conversation: () => true,
};

/** Refused only with `CHAT_STRICT`. */
const strictRefusals: typeof refusals = {
  functions: (value) => !Array.isArray(value) || value.length > 0,
  function_call: (value) => value !== 'none',
};

/** Fields that this endpoint refuses unless they are absent, null or at their default. */
export const refusedFields: ReadonlySet<string> = new Set(Object.keys(refusals));

/** Refuses a request for a feature that would get lost silently. Throws an `unsupported` fault. */
export const refuseUnsupported = (body: JsonObject, strict: boolean): void => {
  for (const field in refusals) {
    const value = body[field];
    if (value !== undefined && value !== null && refusals[field]?.(value)) unsupported(field);
  }
  if (strict) refuseStrictly(body);
  const moderation = body.moderation;
  if (isJsonObject(moderation) && isJsonObject(moderation.policy)) unsupported('moderation.policy');
};

const refuseStrictly = (body: JsonObject): void => {
  for (const field in strictRefusals) {
    const value = body[field];
    if (value !== undefined && value !== null && strictRefusals[field]?.(value)) unsupportedWhileStrict(field);
  }
  const format = body.response_format;
  if (isJsonObject(format) && format.type === 'json_schema') {
    unsupportedWhileStrict('response_format.type', 'response_format.type "json_schema"');
  }
};

/** Throws the fault for a field that is supported only without `CHAT_STRICT`. */
export const unsupportedWhileStrict = (param: string, what = param): never =>
  unsupported(param, `${what} is not supported on this route unless CHAT_STRICT is false in the configuration.`);
