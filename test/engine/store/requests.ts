import fc from 'fast-check';
import type { KeptRequest } from '../../../engine/features/record/schema.ts';

/** A request that was kept. */
export const keptRequest = (id: string, endedAt: number, more: Partial<KeptRequest> = {}): KeptRequest => ({
  endedAt,
  n: 1,
  id,
  startedAt: endedAt - 4,
  path: '/v1/messages',
  protocol: 'messages',
  asked: 'any',
  stream: true,
  provider: 'p',
  model: 'm',
  status: 200,
  durationMs: 4,
  losses: [],
  relayed: { request: false, reply: false },
  captured: false,
  ...more,
});

/** Requests as the lines that are handed over. */
export const linesOf = (requests: readonly KeptRequest[]): string =>
  requests.map((request) => `${JSON.stringify(request)}\n`).join('');

const name = (...names: readonly string[]) => fc.option(fc.constantFrom(...names), { nil: undefined });

const loss = { step: 's', field: 'f', action: 'dropped' } as const;

/** Requests of a few seconds, of a few models, clients and sessions. */
export const someRequests: fc.Arbitrary<readonly KeptRequest[]> = fc
  .array(
    fc.record({
      endedAt: fc.integer({ min: 1_800_000_000_000, max: 1_800_000_003_000 }),
      provider: name('p', 'q'),
      model: name('m', 'n'),
      asked: fc.constantFrom('any', 'm', 'p,m'),
      client: name('one', 'two'),
      session: name('s1', 's2', 's3'),
      scenario: name('default', 'think'),
      status: fc.constantFrom(200, 200, 200, 400, 429, 499, 500),
      fault: fc.option(fc.constant({ kind: 'overloaded', message: '100 % busy' }), { nil: undefined }),
      reason: name('A rule', 'Another_one'),
      durationMs: fc.constantFrom(0.4, 299.9, 300, 2_000, 200_000),
      firstByteMs: fc.option(fc.constantFrom(1, 5_000), { nil: undefined }),
      cost: fc.option(fc.constantFrom(0, 999_999, 1_000_000, 20_000_000_000), { nil: undefined }),
      usage: fc.option(fc.record({ input: fc.nat(100), output: fc.nat(50) }), { nil: undefined }),
      tools: fc.option(fc.constantFrom(['read'], ['read', 'Bash'], ['a', 'b', 'c', 'd', 'e', 'f']), { nil: undefined }),
      turns: fc.option(fc.integer({ min: 1, max: 9 }), { nil: undefined }),
      losses: fc.constantFrom([], [loss]),
    }),
    { maxLength: 60 },
  )
  .map((all) => all.map((one, at) => JSON.parse(JSON.stringify({ ...keptRequest(`r${at}`, one.endedAt), ...one }))));
