import test from 'ava';
import { openSummary, packSummary, shortenResults, summaryRequest } from '../../../engine/model/compaction.ts';
import { Losses } from '../../../engine/model/loss.ts';
import { packSignature } from '../../../engine/model/reasoning/signature.ts';
import { type ModelRequest, type Part, probeRequest, type Tool } from '../../../engine/model/request.ts';

const text = (said: string): Part => ({ type: 'text', text: said });
const call = (id: string): Part => ({ type: 'tool-call', id, name: 'f', input: '{}' });
const result = (id: string, said: string): Part => ({ type: 'tool-result', id, content: [{ ...text(said), at: id }] });

const tool: Tool = { type: 'function', name: 'f' };
const request: ModelRequest = {
  ...probeRequest('m'),
  tools: [tool, { type: 'hosted', wire: 'responses', kind: 'mcp', raw: {} }],
  toolChoice: { type: 'required' },
  output: { type: 'json' },
  stop: ['x'],
  compaction: { at: 'input' },
  turns: [
    { role: 'user', parts: [text('go')] },
    { role: 'assistant', parts: [call('a'), call('b')] },
    { role: 'user', parts: [result('a', `\u{1f422}${'x'.repeat(9_999)}`)] },
  ],
};

test('a packed summary opens, and no other payload does', (t) => {
  t.is(openSummary(packSummary('żółw')), 'żółw');
  for (const payload of [packSignature({ format: 'responses', data: 'd' }), 'sy1.', 'gAAAA', '', null, undefined, 7]) {
    t.is(openSummary(payload), undefined);
  }
});

test('the request for a summary has the prompt behind the conversation, a result for each call, and nothing that forbids a text', (t) => {
  const asked = summaryRequest(request, 'Sum up.');
  t.deepEqual(asked.turns.slice(0, 3), request.turns);
  t.deepEqual(asked.turns.slice(3), [
    {
      role: 'user',
      parts: [
        { type: 'tool-result', id: 'b', content: [{ type: 'text', text: 'No result so far.' }], at: undefined },
        text('Sum up.'),
      ],
    },
  ]);
  t.deepEqual(asked.tools, [tool]);
  t.deepEqual(asked.toolChoice, { type: 'none' });
  for (const name of ['output', 'stop', 'compaction'] as const) t.false(name in asked, name);
  const told = summaryRequest({ ...request, tools: [], compaction: { at: 'c', instructions: 'Be short.' } }, 'Sum up.');
  t.deepEqual(told.turns.at(-1)?.parts.at(-1), text('Be short.'));
  t.false('toolChoice' in told);
});

test('tool output is shortened only as far as the window demands, the oldest first', (t) => {
  const losses = new Losses('test');
  const longer = {
    ...request,
    turns: [...request.turns, { role: 'user' as const, parts: [result('b', 'y'.repeat(9_000))] }],
  };
  t.is(shortenResults(longer, 800, 1_000, losses), longer);
  t.is(losses.size, 0);
  const once = shortenResults(longer, 900, 1_000, losses);
  t.deepEqual(
    losses.list.map(({ path, outcome }) => [path, outcome]),
    [['a', 'approximated']],
  );
  const [first] = once.turns[2]?.parts ?? [];
  const said = first?.type === 'tool-result' && first.content[0]?.type === 'text' ? first.content[0].text : '';
  t.regex(said, /^\u{1f422}x{498}\n\[9001 characters are left out\]\nx{500}$/u);
  t.deepEqual(once.turns[3], longer.turns[3]);
  shortenResults(longer, 9_000, 1_000, losses);
  t.deepEqual(
    losses.list.map(({ path }) => path),
    ['a', 'b'],
  );
});
