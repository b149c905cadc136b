import test from 'ava';
import { chat, formatOf, messages, type Place, pathOf, sent, takesAsItCame } from './rig.ts';

const places: readonly (readonly [title: string, place: Place, path: string, wire: string])[] = [
  ['by default', {}, '/v1/chat/completions', 'chat'],
  ['as configured', { options: { api: 'responses' } }, '/v1/responses', 'responses'],
  ['as the base URL says', { baseUrl: 'https://h/v1/responses' }, '/v1/responses', 'responses'],
  [
    'the configuration first',
    { baseUrl: 'https://h/responses', options: { api: 'chat' } },
    '/v1/chat/completions',
    'chat',
  ],
];

for (const [title, place, path, wire] of places) {
  test(`which protocol: ${title}`, (t) => {
    t.is(pathOf('openai', chat('m'), place), path);
    const { baseUrl = 'http://localhost', options = {} } = place;
    t.is(formatOf('openai').protocol({ baseUrl: new URL(baseUrl), options }).wire as string, wire);
  });
}

test('options that are none of its own are faults', (t) => {
  const { optionsReader } = formatOf('openai');
  t.deepEqual(optionsReader.faults({ api: 'chat' }), []);
  t.deepEqual(
    optionsReader.faults({ api: 'completions' }, 'options').map(({ path }) => path),
    ['options.api'],
  );
  t.deepEqual(optionsReader.faults({ apis: 'chat' }, 'options'), [{ path: 'options.apis', message: 'is unknown' }]);
  t.is(formatOf('deepseek').optionsReader.faults({ anything: 1 }).length, 1);
});

const own: Place = { baseUrl: 'https://api.openai.com/v1' };

test('its reasoning models take no sampling, look-alikes get what was asked', (t) => {
  const asked = messages('gpt-5.1', { temperature: 0.5 });
  t.deepEqual(sent('openai', 'messages', asked, own).losses, ['-temperature']);
  t.is(sent('openai', 'messages', asked).body.temperature, 0.5);
  t.is(sent('openai', 'messages', asked, own).body.max_completion_tokens, 4_000);
});

test('another protocol’s word for a tier becomes its own', (t) => {
  t.is(sent('openai', 'messages', messages('m', { service_tier: 'standard_only' }), own).body.service_tier, 'default');
});

test('a chat client’s body goes out as it came', (t) => {
  t.true(takesAsItCame('openai', chat('m', { tools: [{ type: 'web_search' }] })));
});
