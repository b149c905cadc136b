import type { FaultKind } from '../../engine/model/fault.ts';
import type { Headers, UpstreamProtocol } from '../../engine/model/protocol.ts';

/** Faults by the cloud's exceptions, where the status alone says less. Source: Amazon Bedrock API reference, "Common errors". */
const kinds = new Map<string, FaultKind>([
  ['ExpiredTokenException', 'upstream-auth'],
  ['ExpiredToken', 'upstream-auth'],
  ['IncompleteSignature', 'upstream-auth'],
  ['IncompleteSignatureException', 'upstream-auth'],
  ['InvalidClientTokenId', 'upstream-auth'],
  ['InvalidSignatureException', 'upstream-auth'],
  ['MissingAuthenticationTokenException', 'upstream-auth'],
  ['RequestExpired', 'upstream-auth'],
  ['RequestTimeTooSkewed', 'upstream-auth'],
  ['SignatureDoesNotMatch', 'upstream-auth'],
  ['UnrecognizedClientException', 'upstream-auth'],
  ['ServiceQuotaExceededException', 'upstream-rate-limit'],
  ['ThrottlingException', 'upstream-rate-limit'],
  ['ModelNotReadyException', 'upstream-overloaded'],
  ['ServiceUnavailableException', 'upstream-overloaded'],
  ['ModelTimeoutException', 'upstream-timeout'],
  ['ModelErrorException', 'upstream-error'],
]);

/** The exception's name; what may follow it is an address. */
const exceptionIn = (headers: Headers): string | undefined => headers['x-amzn-errortype']?.split(':', 1)[0];

/** The protocol with the cloud's own errors, which come in place of the vendor's. */
export const atBedrock = (upstream: UpstreamProtocol): UpstreamProtocol => ({
  ...upstream,
  decodeFault(status, headers, body) {
    const fault = upstream.decodeFault(status, headers, body);
    const exception = exceptionIn(headers);
    if (exception === undefined) return fault;
    const kind = kinds.get(exception) ?? fault.kind;
    return { ...fault, kind, code: exception };
  },
});
