import { fail } from '../../engine/model/fault.ts';
import { isJsonObject, type Json, type JsonObject } from '../../engine/model/json.ts';

/** Throws the fault of a field that this route can't carry. */
export const unsupported = (param: string, what = `${param} is not supported on this route.`): never =>
  fail('unsupported', what, { param, code: 'unsupported_parameter' });

/** Tells whether a field asks for something; each takes the value that isn't null. */
const refusals: Readonly<Record<string, (value: Json) => boolean>> = {
  n: (value) => value !== 1,
  logprobs: (value) => value !== false,
  top_logprobs: (value) => value !== 0,
  audio: () => true,
  modalities: (value) => !Array.isArray(value) || value.some((modality) => modality !== 'text'),
  store: (value) => value !== false,
  prediction: () => true,
  functions: (value) => !Array.isArray(value) || value.length > 0,
  function_call: (value) => value !== 'none',
  previous_response_id: () => true,
  conversation: () => true,
};

/** Fields that this route answers with a refusal unless they are absent, null or have their default value. */
export const refusedFields: ReadonlySet<string> = new Set(Object.keys(refusals));

/** Refuses a request that asks for what a client would miss without noticing. Throws an `unsupported` fault. */
export const refuseUnsupported = (body: JsonObject): void => {
  for (const [field, asks] of Object.entries(refusals)) {
    const value = body[field];
    if (value !== undefined && value !== null && asks(value)) unsupported(field);
  }
  const format = body.response_format;
  if (isJsonObject(format) && format.type === 'json_schema') {
    unsupported('response_format.type', 'response_format.type "json_schema" is not supported on this route.');
  }
  const moderation = body.moderation;
  if (isJsonObject(moderation) && isJsonObject(moderation.policy)) unsupported('moderation.policy');
};
