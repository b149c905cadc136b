import { isJsonObject, type JsonObject, parseJson } from '../model/json.ts';

/** The service's answer. */
export interface ServiceAnswer {
  readonly status: number;
  /** Empty when it wasn't an object. */
  readonly body: JsonObject;
}

/** A restart waits for new processes to start. */
const answerMs = 60_000;

/** Calls one of the service's own endpoints. Rejects when nobody answers. */
export const callService = async (
  { baseUrl, apiKey }: { readonly baseUrl: string; readonly apiKey: string | undefined },
  method: 'GET' | 'POST',
  path: string,
): Promise<ServiceAnswer> => {
  const headers = apiKey === undefined ? {} : { 'x-api-key': apiKey };
  const response = await fetch(baseUrl + path, { method, headers, signal: AbortSignal.timeout(answerMs) });
  const body = parseJson(await response.text());
  return { status: response.status, body: isJsonObject(body) ? body : {} };
};
