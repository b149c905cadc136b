import test from 'ava';
import type { ModelEvent } from '../../../engine/model/event.ts';
import { everyCut, everyLeave, testStage } from '../../../engine/testing-api.ts';
import judge from '../../../transformers/judge/index.ts';

const call = (index: number, id: string, json: string): readonly ModelEvent[] => [
  { type: 'block-start', index, block: { type: 'tool-call', id, name: 'Bash' } },
  { type: 'input-delta', index, json },
  { type: 'block-stop', index },
];

const answer = (...calls: readonly (readonly ModelEvent[])[]): readonly ModelEvent[] => [
  { type: 'message-start', id: 'a', model: 'm' },
  ...calls.flat(),
  {
    type: 'message-stop',
    finish: 'tool-call',
    usage: {},
    extra: { wire: 'messages', fields: { container: null, safeguard_results: 'of a host that was not asked' } },
  },
];

const given = {
  stage: judge,
  client: { wire: 'messages' },
  request: {
    model: 'm',
    system: [],
    tools: [],
    turns: [{ role: 'user', parts: [{ type: 'text', text: 'list the files' }] }],
    stream: true,
    extra: { wire: 'messages', at: '', fields: { safeguards: [{ type: 'dangerous_tool_use' }] } },
  },
  ask: { 'local,judge': '{"answer":"not_flagged","explanation":""}' },
} as const;

const endOf = (events: readonly ModelEvent[]) => events.findLast(({ type }) => type === 'message-stop');

test('wherever the answer is cut, and whenever the client goes, the verdicts are the same and nothing stays', async (t) => {
  const test = { ...given, answer: answer(call(0, 'a', '{"command":"ls"}'), call(1, 'b', '{"command":"pwd"}')) };
  await everyCut(test);
  await everyLeave(test);
  t.pass();
});

test('calls of one id have no verdict; a host that was not asked has no say', async (t) => {
  const { events } = await testStage({
    ...given,
    answer: answer(call(0, 'a', '{"command":"ls"}'), call(1, 'a', '{"command":"rm -r /"}')),
  });
  t.like(endOf(events.after.flat()), {
    extra: {
      fields: {
        container: null,
        safeguard_results: [
          {
            type: 'dangerous_tool_use',
            status: { type: 'available', tool_uses: { a: { type: 'unavailable', reason: 'two calls have this id' } } },
          },
        ],
      },
    },
  });
});

test("the end keeps its own members; another protocol's are a loss", async (t) => {
  const fields = { promptFeedback: { blockReason: 'SAFETY' } };
  const { losses } = await testStage({
    ...given,
    answer: [
      { type: 'message-start', id: 'a', model: 'm' },
      { type: 'message-stop', finish: 'filtered', usage: {}, extra: { wire: 'gemini', fields } },
    ],
  });
  t.like(losses, [{ path: 'promptFeedback', outcome: 'dropped', step: 'judge' }]);
});
