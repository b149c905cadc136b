import test from 'ava';
import { hideSecrets, placeholderFaults, putSecretsBack } from '../../../engine/config/secrets.ts';

/** One in each place that holds a secret. */
const secrets = ['own', 'one', 'two', 'three', 'four', 'in-header', 'in-query', 'of-model', 'seal', 'pass', 'option'];
const secret = (name: (typeof secrets)[number]): string => `secret-${name}`;

const stored = {
  APIKEY: secret('own'),
  CLIENTS: [{ name: 'team', key: `sha256:${'0'.repeat(64)}` }],
  FLEET: { store: `redis://me:${secret('pass')}@h`, key: [secret('seal'), '$EARLIER'] },
  Providers: [
    { name: 'a', apiKey: secret('one'), models: [], credentials: 'client' },
    { name: 'b', api_key: [secret('two'), '$REF', secret('three')], models: ['m'] },
    { name: 'a', apiKey: secret('four'), models: [] },
    {
      name: 'c',
      baseUrl: `https://h.example/v1?key=${secret('in-query')}`,
      headers: { authorization: `Bearer ${secret('in-header')}`, 'x-other-key': 'Bearer $REF', 'x-title': 'mine' },
      models: [{ name: 'm', query: { key: secret('of-model') }, maxOutput: 1 }],
    },
  ],
  Router: { rules: [{ name: 'r', when: { key: 'team' }, to: 'a,m' }] },
  transformers: ['maxtoken', { path: 'mine.ts', options: { token: secret('option'), max_tokens: 5 } }],
};

test('placeholders stand for all secrets and nothing else, and are put back', (t) => {
  const shown = hideSecrets(stored);
  const text = JSON.stringify(shown);
  for (const name of secrets) t.false(text.includes(secret(name)), name);
  t.is(text.match(/•••• /g)?.length, secrets.length);
  for (const kept of ['$REF', '$EARLIER', 'Bearer $REF', 'mine', 'sha256:', '"key":"team"', '"client"']) {
    t.true(text.includes(kept), kept);
  }
  t.true(text.includes('•••• Providers[b].api_key[2]'));
  t.deepEqual(putSecretsBack(shown, stored), stored);
  t.deepEqual(hideSecrets(shown), shown);
});

test('a placeholder moves with its provider and its field, and stays where no secret belongs', (t) => {
  const saved = { Providers: [{ name: 'a', apiKey: ['k1', 'k2'] }] };
  const [first, second] = ['•••• Providers[a].apiKey[0]', '•••• Providers[a].apiKey[1]'];
  t.deepEqual(hideSecrets(saved), { Providers: [{ name: 'a', apiKey: [first, second] }] });
  const moved = { Providers: [{ name: 'new' }, { name: 'renamed', api_key: second }] };
  t.deepEqual(putSecretsBack(moved, saved), { Providers: [{ name: 'new' }, { name: 'renamed', api_key: 'k2' }] });
  const carried = {
    Providers: [{ name: 'a', headers: { authorization: first }, models: [{ query: { key: first } }] }],
  };
  t.deepEqual(putSecretsBack(carried, saved), {
    Providers: [{ name: 'a', headers: { authorization: 'k1' }, models: [{ query: { key: 'k1' } }] }],
  });
  const elsewhere = {
    APIKEY: first,
    Providers: [{ name: first, body: { token: first }, headers: { 'x-title': first } }],
    Router: { default: first, rules: [{ when: { key: first } }] },
    transformers: [{ name: 'x', options: { token: first } }],
  };
  t.deepEqual(putSecretsBack(elsewhere, saved), elsewhere);
});

test('a placeholder without a secret is a fault, with its path', (t) => {
  const message = 'is the placeholder "•••• Providers[b].apiKey", and no secret is stored for it; enter the secret';
  t.deepEqual(placeholderFaults({ Providers: [{ name: 'a', apiKey: ['$K', '•••• Providers[b].apiKey'] }] }), [
    { path: 'Providers[0].apiKey[1]', message },
  ]);
});
