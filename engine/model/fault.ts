/**
 * All kinds of request failures. Each protocol formats them by one table, which the compiler keeps complete.
 */
export type FaultKind =
  /** The client's request is malformed or breaks a rule; `param` names the field. */
  | 'invalid-request'
  /** The route doesn't support a requested feature; `param` names the field. */
  | 'unsupported'
  /** The model doesn't resolve to a provider. */
  | 'no-route'
  /** The client's API key is missing or wrong. */
  | 'unauthorized'
  /** The request's Host or Origin is not allowed, or its key doesn't allow the route or the model. */
  | 'forbidden'
  /** Nothing is served at this path. */
  | 'not-found'
  /** A file that the request would change can't be written. */
  | 'read-only'
  | 'method-not-allowed'
  /** The client requests a WebSocket on a path that only serves plain requests. */
  | 'upgrade-refused'
  /** The client sent its request too slowly. */
  | 'request-timeout'
  | 'too-large'
  /** The body's content-encoding is unknown. */
  | 'unsupported-encoding'
  /** A limit of a client with a key of its own; `code` names it. */
  | 'rate-limited'
  /** The budget of a client with a key of its own is used up. */
  | 'budget-exceeded'
  /** The service is draining or full. */
  | 'unavailable'
  /** A provider can't be used as configured, for example because an environment variable is not set. */
  | 'misconfigured'
  /** A transformer failed or couldn't be loaded; the message names it. */
  | 'stage-failed'
  /** The upstream rejected the request itself (400, 422 …). */
  | 'upstream-invalid'
  /** The prompt exceeds the model's context window. */
  | 'upstream-context'
  /** The upstream rejected the provider's credentials. */
  | 'upstream-auth'
  | 'upstream-billing'
  | 'upstream-forbidden'
  | 'upstream-not-found'
  | 'upstream-too-large'
  | 'upstream-rate-limit'
  | 'upstream-overloaded'
  /** Any other failure status, or an error reported inside a reply. */
  | 'upstream-error'
  /** The connection to the upstream failed. */
  | 'upstream-unreachable'
  /** The upstream's answer can't be read. */
  | 'upstream-garbled'
  /** The upstream's answer ended before it was complete. */
  | 'upstream-cut'
  | 'upstream-timeout'
  /** A bug in the gateway. */
  | 'internal';

const kindTable: Readonly<Record<FaultKind, true>> = {
  'invalid-request': true,
  unsupported: true,
  'no-route': true,
  unauthorized: true,
  forbidden: true,
  'not-found': true,
  'read-only': true,
  'method-not-allowed': true,
  'upgrade-refused': true,
  'request-timeout': true,
  'too-large': true,
  'unsupported-encoding': true,
  'rate-limited': true,
  'budget-exceeded': true,
  unavailable: true,
  misconfigured: true,
  'stage-failed': true,
  'upstream-invalid': true,
  'upstream-context': true,
  'upstream-auth': true,
  'upstream-billing': true,
  'upstream-forbidden': true,
  'upstream-not-found': true,
  'upstream-too-large': true,
  'upstream-rate-limit': true,
  'upstream-overloaded': true,
  'upstream-error': true,
  'upstream-unreachable': true,
  'upstream-garbled': true,
  'upstream-cut': true,
  'upstream-timeout': true,
  internal: true,
};

/** All kinds, to check what custom code throws. */
export const faultKinds: readonly string[] = Object.keys(kindTable);

/** One failure, described for users. Holds no secrets: any client may see the message. */
export interface Fault {
  /**
   * What the request may lack to be accepted, that its model may be asked for a summary instead, or that there is a newer key, if known.
   * `taught`: the refusal said what it may lack.
   */
  readonly retryAs?: 'without-reasoning' | 'without-compaction' | 'new-key' | 'taught' | undefined;
  readonly kind: FaultKind;
  readonly message: string;
  /** Path of the field at fault, in the client's spelling: `messages[2].content[0].source`. */
  readonly param?: string | undefined;
  /** A machine-readable code of the upstream or of the client's protocol. */
  readonly code?: string | undefined;
  /** The upstream's HTTP status. */
  readonly status?: number | undefined;
  /** The destination that failed. */
  readonly from?: { readonly provider: string; readonly model: string; readonly scenario: string } | undefined;
  /** Retrying the same upstream at once is useless; another one may succeed. */
  readonly retryOtherUpstream?: boolean | undefined;
  /** `false`: the upstream isn't to blame, so that its breaker doesn't count the fault. */
  readonly countsAgainstHealth?: boolean | undefined;
  /** A further call of a stage has failed, which had retries and fallbacks of its own: the request has none for it. */
  readonly settled?: boolean | undefined;
  /** Reply headers about retrying (`retry-after`, rate limits). */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/**
 * Maximum characters of an upstream's error text. Protocols cut each text with `errorText` before searching it; the rest is
 * neither searched nor shown.
 */
const maxErrorText = 16_384;

/** Cuts a text of an upstream's error to `maxErrorText`. */
export const errorText = (text: string): string => text.slice(0, maxErrorText);

/** Maximum characters of each text of an upstream's fault that clients see. */
const maxShownText = 2000;

/** Cuts the texts of an upstream's fault to `maxShownText`. */
export const cutFault = (fault: Fault): Fault => ({
  ...fault,
  message: fault.message.slice(0, maxShownText),
  ...(fault.code !== undefined && { code: fault.code.slice(0, maxShownText) }),
  ...(fault.param !== undefined && { param: fault.param.slice(0, maxShownText) }),
});

/** An error that carries a fault; the only error that operators and pure functions throw on purpose. */
export class FaultError extends Error {
  override readonly name = 'FaultError';
  readonly fault: Fault;

  constructor(fault: Fault, options?: ErrorOptions) {
    super(fault.message, options);
    this.fault = fault;
  }
}

/** Throws a `FaultError` of this kind. */
export const fail = (kind: FaultKind, message: string, more: Omit<Fault, 'kind' | 'message'> = {}): never => {
  throw new FaultError({ kind, message, ...more });
};

/** Throws the fault for a field whose value this route doesn't support. */
export const unsupported = (param: string, what = `${param} is not supported on this route.`): never =>
  fail('unsupported', what, { param, code: 'unsupported_parameter' });

/** The fault of an error. Any other error than `FaultError` is a bug, whose message is not shown. */
export const faultOf = (error: unknown): Fault =>
  error instanceof FaultError
    ? error.fault
    : { kind: 'internal', message: 'An internal error occurred in the gateway; its log has the details.' };

/** The message of anything that was thrown. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** A system error's code, such as `ENOENT`; `undefined` for errors without one. */
export const errorCode = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;

/** Returns this value for a system error that says that a file is missing; rethrows any other error. */
export const ifMissing =
  <T>(value: T) =>
  (error: unknown): T => {
    if (errorCode(error) === 'ENOENT') return value;
    throw error;
  };

/** Quotes the start of a text for a message: a client's text may be of any length. */
export const quoted = (text: string): string =>
  JSON.stringify(text.length > maxQuoted ? `${text.slice(0, maxQuoted)}…` : text);

const maxQuoted = 100;

/** The error of a failed stage, under its name; a `FaultError` that the stage threw is kept. */
export const stageFault = (name: string, what: string, cause?: unknown): FaultError => {
  if (cause instanceof FaultError) {
    const { kind, message } = cause.fault;
    if (knownKinds.has(kind) && typeof message === 'string') return cause;
    return stageFault(name, `${what}: its fault is of the unknown kind ${quoted(String(kind))}`);
  }
  const why = cause instanceof Unusable ? `: ${cause.message}` : '';
  return new FaultError(
    { kind: 'stage-failed', message: `Transformer "${name}" ${what}${why}.` },
    cause === undefined ? {} : { cause },
  );
};

/** A stage gave something that can't be used. The message says what, in the gateway's own words, so clients may read it. */
export class Unusable extends TypeError {}

const knownKinds: ReadonlySet<unknown> = new Set(faultKinds);
