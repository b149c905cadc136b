/**
 * Everything that can go wrong with a request, as a closed list: each protocol says in one table how it words each kind,
 * and the compiler keeps those tables complete.
 */
export type FaultKind =
  /** The client's request is malformed or breaks a rule; `param` names the field. */
  | 'invalid-request'
  /** The client asks for something that the route can't carry; `param` names the field. */
  | 'unsupported'
  /** The model named doesn't resolve to a provider. */
  | 'no-route'
  /** No or a wrong key came from the client. */
  | 'unauthorized'
  /** The request's Host or Origin may not reach this service. */
  | 'forbidden'
  /** Nothing is served at this path. */
  | 'not-found'
  | 'method-not-allowed'
  /** The client was too slow in sending its request. */
  | 'request-timeout'
  | 'too-large'
  /** The body's content-encoding is unknown. */
  | 'unsupported-encoding'
  /** The service is draining or full. */
  | 'unavailable'
  /** A provider can't be used as it is configured (an unset environment variable, say). */
  | 'misconfigured'
  /** A transformer failed or couldn't be loaded; the message names it. */
  | 'stage-failed'
  /** The upstream refused the request as such (400, 422 …). */
  | 'upstream-invalid'
  /** The upstream says that the prompt doesn't fit the model's window. */
  | 'upstream-context'
  /** The upstream refused the provider's credentials. */
  | 'upstream-auth'
  | 'upstream-billing'
  | 'upstream-forbidden'
  | 'upstream-not-found'
  | 'upstream-too-large'
  | 'upstream-rate-limit'
  | 'upstream-overloaded'
  /** Any other failure status, or an error reported inside a reply. */
  | 'upstream-error'
  /** No connection to the upstream. */
  | 'upstream-unreachable'
  /** The upstream's answer can't be read. */
  | 'upstream-garbled'
  /** The upstream's answer ended before it was complete. */
  | 'upstream-cut'
  | 'upstream-timeout'
  /** A bug of ours. */
  | 'internal';

/** One failure, worded for users. Holds no secret: the message may be shown to any client. */
export interface Fault {
  readonly kind: FaultKind;
  readonly message: string;
  /** Path of the field at fault, in the client's own spelling: `messages[2].content[0].source`. */
  readonly param?: string | undefined;
  /** A machine-readable code of the upstream or of the client's protocol. */
  readonly code?: string | undefined;
  /** The HTTP status that the upstream gave. */
  readonly status?: number | undefined;
  /** Asking the same upstream again at once is of no use; another one may do. */
  readonly elsewhere?: boolean | undefined;
  /** Reply headers that tell the client when to try again (`retry-after`, rate limits). */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** Carries a fault on RxJS's error channel and out of pure functions; all that operators throw on purpose. */
export class FaultError extends Error {
  override readonly name = 'FaultError';
  readonly fault: Fault;

  constructor(fault: Fault, options?: ErrorOptions) {
    super(fault.message, options);
    this.fault = fault;
  }
}

/** Throws a fault of this kind. */
export const fail = (kind: FaultKind, message: string, more: Omit<Fault, 'kind' | 'message'> = {}): never => {
  throw new FaultError({ kind, message, ...more });
};

/** The fault that an error stands for. What isn't a `FaultError` is a bug: its text stays inside. */
export const faultOf = (error: unknown): Fault =>
  error instanceof FaultError
    ? error.fault
    : { kind: 'internal', message: 'The gateway met an internal error; its log has the details.' };
