import { isJsonObject, type JsonObject } from '../../model/json/json.ts';
import { memberPath } from '../../model/schema.ts';
import type { CallExtras, Provider } from '../config.ts';
import type { Diagnostics } from '../diagnostics.ts';
import type { CallExtrasFile } from '../schema.ts';

/** Reads the `headers`, `query` and `body` of a provider or model; `undefined` if it has none. */
export const readCallExtras = (row: CallExtrasFile, at: string, findings: Diagnostics): CallExtras | undefined => {
  const { headers = {}, query = {}, body = {} } = row;
  for (const [name, value] of Object.entries(headers)) {
    const fault = headerFault(name, value);
    if (fault !== undefined) findings.fault(memberPath(memberPath(at, 'headers'), name), fault);
  }
  if (Object.hasOwn(query, '')) findings.fault(memberPath(memberPath(at, 'query'), ''), 'must have a name');
  for (const [member, fault] of bodyFaults(body)) {
    findings.fault(memberPath(memberPath(at, 'body'), member), fault);
  }
  if (!row.headers && !row.query && !row.body) return undefined;
  return {
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value.trim()])),
    query,
    body: isJsonObject(body) ? body : {},
  };
};

/** What calls to one of a provider's models have in addition. */
export interface ModelCallExtras extends Pick<CallExtras, 'headers' | 'query'> {
  /** Patches of the body, in this order. */
  readonly patches: readonly JsonObject[];
}

/** The provider's extras, and the model's on top of them. */
export const callExtrasOf = ({ extras, modelExtras }: Provider, model: string): ModelCallExtras => {
  const own = modelExtras?.get(model);
  return {
    headers: { ...extras?.headers, ...own?.headers },
    query: { ...extras?.query, ...own?.query },
    patches: [extras, own].flatMap((one) => (one && Object.keys(one.body).length > 0 ? [one.body] : [])),
  };
};

/** Why calls can't have this header; `undefined` if they can. */
export const headerFault = (name: string, value: string): string | undefined => {
  if (!headerName.test(name)) return "isn't a valid header name";
  const reserved = name.toLowerCase();
  if (reservedHeaders.has(reserved)) {
    const instead = settings.get(reserved);
    return `is set by the gateway itself${instead === undefined ? '' : `; use ${instead} instead`}`;
  }
  return callHeaderValue.test(value) ? undefined : 'must have a value without control characters, in Latin-1';
};

/** A `token`. Source: RFC 9110, section 5.6.2. */
export const headerName = /^[\w!#$%&'*+.^`|~-]+$/;
/** Visible characters, blanks and tabs. Source: RFC 9110, section 5.5. */
export const callHeaderValue = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Headers of one connection (RFC 9110, section 7.6.1) and those that follow from the body, the URL or what the gateway reads. */
const reservedHeaders = new Set([
  'accept',
  'accept-encoding',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'host',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** What decides the values of reserved headers, where that is a setting. */
const settings: ReadonlyMap<string, string> = new Map([
  ['host', '`baseUrl`'],
  ['proxy-authorization', '`HTTPS_PROXY` in the environment'],
]);

/** Members that a patch of the body may not have, each with the reason. */
export const bodyFaults = (patch: object): readonly (readonly [string, string])[] =>
  Object.entries(decidedMembers).filter(([member]) => Object.hasOwn(patch, member));

const decidedMembers: Readonly<Record<string, string>> = {
  model: 'is set by the destination of a request',
  stream: 'is set by the client',
};
