import test from 'ava';
import { Losses } from '../../../engine/model/loss.ts';
import { adaptToModel } from '../../../engine/model/models/adapt-to-model.ts';
import type { Lack } from '../../../engine/model/models/model-facts.ts';
import type { ModelRequest } from '../../../engine/model/request.ts';
import { plainRequest } from '../../support/context.ts';

type Row = readonly [asked: Partial<ModelRequest>, sent: Partial<ModelRequest>, losses: readonly string[]];

const none: readonly string[] = [];

const rows = new Map<Lack, readonly Row[]>([
  [
    'sampling',
    [
      [
        { temperature: 0.2, topP: 0.5, topK: 3, seed: 4 },
        { temperature: undefined, topP: undefined, topK: undefined, seed: 4 },
        ['dropped temperature', 'dropped top_p', 'dropped top_k'],
      ],
      [{ temperature: 1, topP: 1 }, { temperature: undefined, topP: undefined }, none],
      [{ topP: 0.99 }, { topP: 0.99 }, none],
      [
        { presencePenalty: 1, frequencyPenalty: 1, logitBias: { 5: 1 } },
        { presencePenalty: undefined, frequencyPenalty: undefined, logitBias: undefined },
        ['dropped presence_penalty', 'dropped frequency_penalty', 'dropped logit_bias'],
      ],
    ],
  ],
  [
    'forcedToolChoice',
    [
      [{ toolChoice: { type: 'required' } }, { toolChoice: { type: 'auto' } }, ['approximated tool_choice']],
      [{ toolChoice: { type: 'tool', name: 'x' } }, { toolChoice: { type: 'auto' } }, ['approximated tool_choice']],
      [
        { toolChoice: { type: 'allowed', required: true, names: ['x'] } },
        { toolChoice: { type: 'allowed', required: false, names: ['x'] } },
        ['approximated tool_choice'],
      ],
      [{ toolChoice: { type: 'none' } }, { toolChoice: { type: 'none' } }, none],
    ],
  ],
  [
    'reasoningOff',
    [
      [{ reasoning: { mode: 'off' } }, { reasoning: { effort: 'low', show: 'hidden' } }, ['approximated reasoning']],
      [
        { reasoning: { effort: 'none', show: 'auto' } },
        { reasoning: { effort: 'low', show: 'hidden' } },
        ['approximated reasoning'],
      ],
      [{ reasoning: { effort: 'high' } }, { reasoning: { effort: 'high' } }, none],
    ],
  ],
  [
    'reasoningBudget',
    [
      [
        { reasoning: { mode: 'on', budget: 5_000 } },
        { reasoning: { mode: 'on', effort: 'medium' } },
        ['approximated reasoning.budget_tokens'],
      ],
      [{ reasoning: { budget: -1 } }, { reasoning: {} }, ['approximated reasoning.budget_tokens']],
      [
        { reasoning: { effort: 'high', budget: 100 } },
        { reasoning: { effort: 'high' } },
        ['approximated reasoning.budget_tokens'],
      ],
    ],
  ],
  [
    'minimalEffort',
    [[{ reasoning: { effort: 'minimal' } }, { reasoning: { effort: 'low' } }, ['approximated reasoning.effort']]],
  ],
]);

for (const [lack, cases] of rows) {
  for (const [asked, sent, lost] of cases) {
    test(`a model without ${lack}: ${JSON.stringify(asked)}`, (t) => {
      const losses = new Losses('test');
      const request = { ...plainRequest, ...asked };
      const adapted = adaptToModel(request, [lack], losses);
      t.deepEqual(adapted, { ...plainRequest, ...sent });
      t.deepEqual(
        losses.list.map(({ outcome, path }) => `${outcome} ${path}`),
        lost,
      );
    });
  }
}

test('a request that asks for nothing of it stays the same object', (t) => {
  const losses = new Losses('test');
  t.is(adaptToModel(plainRequest, [...rows.keys()], losses), plainRequest);
  t.deepEqual(losses.list, []);
});
