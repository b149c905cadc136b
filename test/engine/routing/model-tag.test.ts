import test from 'ava';
import type { TextPart } from '../../../engine/model/request.ts';
import { extractModelTag } from '../../../engine/routing/resolve.ts';
import { plainRequest } from '../../support/context.ts';
import { cpuTimeMs } from '../../support/processes/cpu-time.ts';

const own = (text: string): string => `<JUNCTOR-MODEL>${text}</JUNCTOR-MODEL>`;
const older = (text: string): string => `<CCR-SUBAGENT-MODEL>${text}</CCR-SUBAGENT-MODEL>`;

const cases: readonly (readonly [string, readonly string[], string | undefined, readonly string[]])[] = [
  ['at the beginning', [`${own('p,m')}Do it.`], 'p,m', ['Do it.']],
  ['in the middle of a later text', ['a', `b ${own('p,m')}\nc`], 'p,m', ['a', 'b \nc']],
  ["in claude-code-router's spelling", [`${older('p,a/b:c,d')}Do it.`], 'p,a/b:c,d', ['Do it.']],
  ['with white space inside', [`${own('\n p,m ')}x`], 'p,m', ['x']],
  ['a text of its own goes', ['a', ` ${own('p,m')}\n`, 'b'], 'p,m', ['a', 'b']],
  ['two: the first one counts, both go', [`${own('p,m')}x${older('q,n')}`], 'p,m', ['x']],
  ['an empty one goes too', [`${own('')}x`], undefined, ['x']],
  ['an empty one before another', [`${own(' ')}x${own('q,n')}`], 'q,n', ['x']],
];
for (const [title, texts, destination, left] of cases) {
  test(`a tag: ${title}`, (t) => {
    const request = { ...plainRequest, system: texts.map((text): TextPart => ({ type: 'text', text })) };
    const untagged = extractModelTag(request);
    t.is(untagged.destination, destination);
    t.deepEqual(
      untagged.request.system.map(({ text }) => text),
      [...left],
    );
    t.is(request.system.length, texts.length);
  });
}

const none = [
  'plain',
  '<JUNCTOR-MODEL>p,m',
  '<JUNCTOR-MODEL>p,m</CCR-SUBAGENT-MODEL>',
  '<junctor-model>p</junctor-model>',
  '</JUNCTOR-MODEL>',
];
for (const text of none) {
  test(`no tag: ${text}`, (t) => {
    const request = { ...plainRequest, system: [{ type: 'text', text } as const] };
    t.is(extractModelTag(request).request, request);
  });
}

test('a tag outside the system prompt is ignored', (t) => {
  const request = {
    ...plainRequest,
    turns: [{ role: 'user', parts: [{ type: 'text', text: own('p,m') }] } as const],
  };
  t.deepEqual(extractModelTag(request), { destination: undefined, at: 'system', request });
});

test('the mark of a text that goes passes to the one before', (t) => {
  const request = {
    ...plainRequest,
    system: [
      { type: 'text', text: 'a', at: 'system[0]' },
      { type: 'text', text: own('p,m'), at: 'system[1]', cache: { ttl: '1h' } },
    ] as const,
  };
  const { at, request: left } = extractModelTag(request);
  t.is(at, 'system[1]');
  t.deepEqual(left.system, [{ type: 'text', text: 'a', at: 'system[0]', cache: { ttl: '1h' } }]);
});

test('the mark of a text that goes is dropped where no text is before it', (t) => {
  const system = [{ type: 'text', text: own('p,m'), at: 'system[0]', cache: { ttl: '1h' } }] as const;
  t.deepEqual(extractModelTag({ ...plainRequest, system }).request.system, []);
});

test('a long text full of half tags costs linear time', (t) => {
  const startedAt = cpuTimeMs();
  const text = '<JUNCTOR-MODEL>'.repeat(100_000);
  extractModelTag({ ...plainRequest, system: [{ type: 'text', text }] });
  t.true(cpuTimeMs() - startedAt < 5_000);
});
