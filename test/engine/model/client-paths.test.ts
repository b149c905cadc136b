import test from 'ava';
import { Losses } from '../../../engine/model/loss.ts';
import { toClientPath } from '../../../engine/model/wire/client-paths.ts';

const names = {
  fields: {
    max_tokens: ['max_completion_tokens', 'max_tokens'],
    response_format: ['text.format'],
    'reasoning.effort': ['effort_word'],
    messages: ['input'],
  },
  members: { cache_control: ['mark', 'inner.mark'] },
};

const body = {
  max_tokens: 5,
  top_k: 1,
  text: { format: { type: 'json_schema', schema: { oneOf: [] } } },
  input: [{ content: [{ text: 'a', mark: {} }, { inner: { mark: {} } }] }],
  'a.b': 1,
};

const cases: readonly (readonly [path: string, spelled: string, why: string])[] = [
  ['top_k', 'top_k', 'a word that both have'],
  ['max_tokens', 'max_tokens', 'of two words the one in the body'],
  ['reasoning.effort', 'effort_word', 'a word that is not in the body: the likeliest'],
  ['response_format.schema.oneOf', 'text.format.schema.oneOf', 'what goes on behind a word'],
  ['response_format.strict', 'text.format', 'cut where the body ends'],
  ['input[0].content[0].cache_control', 'input[0].content[0].mark', "a member's own word"],
  ['input[0].content[1].cache_control', 'input[0].content[1].inner.mark', 'a word of two steps'],
  ['input[0].content[1].signature', 'input[0].content[1]', 'a member that is nowhere'],
  ['input[7].content', 'input', 'an index that is nowhere'],
  ['messages[0].content[0]', 'input[0].content[0]', "a list's own word"],
  ['content[0].citations', 'content[0].citations', 'nothing of the request'],
  ['constructor.name', 'constructor.name', 'no member of its own'],
  ['a.b', 'a.b', 'a name with a dot'],
];

for (const [path, spelled, why] of cases) {
  test(`${path} → ${spelled}: ${why}`, (t) => t.is(toClientPath(names, body, path), spelled));
}

test('without names, paths are cut alone', (t) => {
  t.is(toClientPath(undefined, body, 'input[0].content[1].signature'), 'input[0].content[1]');
});

test('a list of losses spells for all its steps, but not what is spelled already', (t) => {
  const losses = new Losses('client', {
    names: { ...names, fields: { user: ['id', 'user'] } },
    body: { user: 'u', id: 'i' },
  });
  losses.at('format').drop('user');
  losses.at('format').dropClientPath('user', 'once is enough');
  losses.at('format').approximate('user');
  t.deepEqual(
    losses.list.map(({ step, path, outcome }) => [step, path, outcome]),
    [
      ['format', 'id', 'dropped'],
      ['format', 'user', 'dropped'],
    ],
  );
});
