import { readFileSync } from 'node:fs';
import test from 'ava';
import type { FaultKind } from '../../engine/model/fault.ts';
import type { ClientProtocol } from '../../engine/model/protocol.ts';
import { clientProtocols } from '../../protocols/index.ts';

const page = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8');

/** Every kind; the compiler sees to it that none is missing. */
const kinds = Object.values({
  'invalid-request': 'invalid-request',
  unsupported: 'unsupported',
  'no-route': 'no-route',
  unauthorized: 'unauthorized',
  forbidden: 'forbidden',
  'not-found': 'not-found',
  'read-only': 'read-only',
  'method-not-allowed': 'method-not-allowed',
  'upgrade-refused': 'upgrade-refused',
  'request-timeout': 'request-timeout',
  'too-large': 'too-large',
  'unsupported-encoding': 'unsupported-encoding',
  'rate-limited': 'rate-limited',
  'budget-exceeded': 'budget-exceeded',
  unavailable: 'unavailable',
  misconfigured: 'misconfigured',
  'stage-failed': 'stage-failed',
  'upstream-invalid': 'upstream-invalid',
  'upstream-context': 'upstream-context',
  'upstream-auth': 'upstream-auth',
  'upstream-billing': 'upstream-billing',
  'upstream-forbidden': 'upstream-forbidden',
  'upstream-not-found': 'upstream-not-found',
  'upstream-too-large': 'upstream-too-large',
  'upstream-rate-limit': 'upstream-rate-limit',
  'upstream-overloaded': 'upstream-overloaded',
  'upstream-error': 'upstream-error',
  'upstream-unreachable': 'upstream-unreachable',
  'upstream-garbled': 'upstream-garbled',
  'upstream-cut': 'upstream-cut',
  'upstream-timeout': 'upstream-timeout',
  internal: 'internal',
} satisfies { readonly [Kind in FaultKind]: Kind });

/** What a client of the protocol gets: status, type, code; `*` where the upstream's own status is kept. */
const cell = ({ encodeFault }: ClientProtocol, kind: FaultKind): string => {
  const { status, body } = encodeFault({ kind, message: 'm' }, 'id');
  const { type, code } = Object(body.error);
  const keeps = encodeFault({ kind, message: 'm', status: 418 }, 'id').status === 418;
  return `${status}${keeps ? '*' : ''} \`${type}\`${code ? ` \`${code}\`` : ''}`;
};

test('the page on errors has the status, type and code of every fault in every protocol', (t) => {
  const shown = [...page.matchAll(/^\|`([a-z-]+)`\|[^|]+\|(.+)\|$/gm)].map(([, kind, cells = '']) => [
    kind,
    ...cells.split('|'),
  ]);
  t.deepEqual(
    shown,
    kinds.map((kind) => [kind, ...clientProtocols.map(({ protocol }) => cell(protocol, kind))]),
  );
});
