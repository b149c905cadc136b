import { ApiError, isAbort } from './api-error.ts';
import { noteDate } from './clock.ts';
import { lostConnection } from './connection.ts';
import { gatewayUrl } from './gateway-url.ts';
import { isJsonObject, parseJson, parseObject } from './json.ts';
import { keyFor, refuseKey } from './key.ts';

/** Options of a call beside its path. */
interface CallOptions {
  /** Default: `GET`. */
  readonly method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Parameters of the query; those that are `undefined` are left out. */
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  /** The answer to a `GET` may take as long as it does: it is a file that the gateway searches for. */
  readonly isSlow?: boolean;
}

/** After so long, what loads is given up, in milliseconds. What changes something, or calls a vendor, may take longer. */
const loadMs = 20_000;

/** An answer's value, and its headers. */
interface Answer<T> {
  readonly value: T;
  readonly headers: Headers;
}

/** Calls an endpoint that answers with JSON. Throws an `ApiError`, or the abort of `signal`. */
export const call = async <T>(path: string, options: CallOptions = {}): Promise<T> =>
  (await callFor<T>(path, options)).value;

/** As `call`, with the answer's headers. */
export const callFor = <T>(path: string, options: CallOptions = {}): Promise<Answer<T>> =>
  inTime(options, async (signal) => {
    const response = await ask(path, { ...options, signal });
    if (!response.ok) throw await failure(response);
    // The gateway's compiler holds its answers to the schemas whose types this folder takes.
    return { value: (await readJson(response)) as T, headers: response.headers };
  });

/**
 * Sends a request with the key, and returns whatever the answer is. Throws only if there is no response, it times out, or it is
 * aborted.
 */
export const send = (path: string, options: CallOptions = {}): Promise<Response> =>
  inTime(options, (signal) => ask(path, { ...options, signal }));

/** An endpoint's address: beside this page, which a proxy may serve below a path of its own. */
const at = (path: string): string => gatewayUrl() + path;

/** Gives up what loads too long: a page that waits forever says nothing, and offers nothing to do. */
const inTime = async <T>(
  { method = 'GET', signal, isSlow = false }: CallOptions,
  work: (signal: AbortSignal | undefined) => Promise<T>,
): Promise<T> => {
  if (method !== 'GET' || isSlow) return work(signal);
  const late = new AbortController();
  const timer = window.setTimeout(() => late.abort(), loadMs);
  try {
    return await work(signal ? AbortSignal.any([signal, late.signal]) : late.signal);
  } catch (error) {
    if (!late.signal.aborted || signal?.aborted) throw error;
    throw new ApiError(504, `The gateway has not answered within ${loadMs / 1_000} s.`);
  } finally {
    window.clearTimeout(timer);
  }
};

const ask = async (
  path: string,
  { method = 'GET', query = {}, body, headers = {}, signal }: CallOptions,
): Promise<Response> => {
  const { key, owner } = keyFor(path);
  const init: RequestInit = {
    method,
    cache: 'no-store',
    headers: {
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(key !== '' && { authorization: `Bearer ${key}` }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(signal && { signal }),
  };
  const response = await fetch(at(path) + queryText(query), init).catch((error: unknown) => {
    if (isAbort(error)) throw error;
    lostConnection();
    throw new ApiError(0, 'The gateway is not responding. Is it running?');
  });
  noteDate(response.headers.get('date'));
  // A request that was routed had the right key: it is the provider that refused the gateway's.
  if (response.status === 401 && !response.headers.has('x-junctor-route')) refuseKey(owner, key);
  return response;
};

/** The message of a failed answer, in any of the gateway's error shapes. */
export const failure = async (response: Response): Promise<ApiError> =>
  failureIn(response.status, await response.text().catch(() => ''));

/** The same, of an answer that was read. */
export const failureIn = (status: number, text: string): ApiError =>
  new ApiError(status, messageIn(text) ?? `The gateway returned status ${status}.`);

const messageIn = (text: string): string | undefined => {
  const { message, error } = parseObject(text) ?? {};
  if (typeof message === 'string') return message;
  return isJsonObject(error) && typeof error.message === 'string' ? error.message : undefined;
};

/** Why an answer is of no use. */
const unreadable =
  'The answer is not the gateway’s. Something between this page and the gateway may have sent it: a proxy, or a login page.';

const readJson = async (response: Response): Promise<unknown> => {
  const value = parseJson(await response.text());
  if (value !== undefined) return value;
  throw new ApiError(response.status, unreadable);
};

const queryText = (query: Readonly<Record<string, string | number | undefined>>): string => {
  const given = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]));
  return given.length > 0 ? `?${new URLSearchParams(given)}` : '';
};
