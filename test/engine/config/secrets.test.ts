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

/** What the placeholder of the first provider's key, or of `rest`, becomes with other addresses. */
const addresses: readonly (readonly [title: string, stored: object, asked: object, isPutBack: boolean])[] = [
  ['the same address', { baseUrl: 'https://h.example/v1' }, { baseUrl: 'https://h.example/v1' }, true],
  ['another path of it', { baseUrl: 'https://h.example/v1' }, { baseUrl: 'https://H.example:443/v2' }, true],
  ['the older spelling', { api_base_url: 'https://h.example/v1' }, { baseUrl: 'https://h.example/v1' }, true],
  ['another host', { baseUrl: 'https://h.example/v1' }, { baseUrl: 'https://other.example/v1' }, false],
  ['another port', { baseUrl: 'https://h.example/v1' }, { baseUrl: 'https://h.example:8443/v1' }, false],
  ['no TLS', { baseUrl: 'https://h.example/v1' }, { baseUrl: 'http://h.example/v1' }, false],
  [
    'a user that looks like the host',
    { baseUrl: 'https://h.example' },
    { baseUrl: 'https://h.example@o.example' },
    false,
  ],
  [
    'one more address',
    { baseUrl: 'https://h.example' },
    { baseUrl: 'https://h.example', otherBaseUrls: ['https://o.example'] },
    false,
  ],
  [
    'one address fewer',
    { baseUrl: 'https://h.example', otherBaseUrls: ['https://o.example'] },
    { baseUrl: 'https://o.example' },
    true,
  ],
  ['the same variable', { baseUrl: 'https://$HOST/v1' }, { baseUrl: 'https://$HOST/v2' }, true],
  ['a variable in its place', { baseUrl: 'https://h.example' }, { baseUrl: 'https://$HOST' }, false],
  ['another host behind the variable', { baseUrl: 'https://$HOST/v1' }, { baseUrl: 'https://$HOST@o.example/' }, false],
  ['a whole address in a variable', { baseUrl: '$URL' }, { baseUrl: '$URL' }, true],
  [
    'an address of its own secret',
    { baseUrl: 'https://h.example?key=s' },
    { baseUrl: '•••• Providers[a].baseUrl' },
    true,
  ],
];

for (const [title, from, to, isPutBack] of addresses) {
  test(`the secret of a placeholder goes where it was stored for alone: ${title}`, (t) => {
    const places = [
      (secret: string) => ({ apiKey: secret }),
      (secret: string) => ({ apiKey: ['$K', secret] }),
      (secret: string) => ({ headers: { authorization: secret } }),
      (secret: string) => ({ models: [{ name: 'm', query: { key: secret } }] }),
    ];
    for (const place of places) {
      const saved = { Providers: [{ name: 'a', ...from, ...place('a-secret') }] };
      const hidden = JSON.stringify(hideSecrets(saved));
      const [placeholder = ''] = /•••• Providers\[a\]\.(?:apiKey|headers|models)[^"]*/.exec(hidden) ?? [];
      const asked = putSecretsBack({ Providers: [{ name: 'new', ...to, ...place(placeholder) }] }, saved);
      t.is(JSON.stringify(asked).includes('a-secret'), isPutBack, placeholder);
      t.is(JSON.stringify(asked).includes(placeholder), !isPutBack);
    }
  });
}

test('a collector and a transformer keep their secrets, and no other gets them', (t) => {
  const saved = {
    TELEMETRY: { endpoint: 'https://c.example/v1', headers: { authorization: 'a-secret' } },
    transformers: [{ path: 'mine.ts', options: { token: 'b-secret' } }],
  };
  const shown = {
    TELEMETRY: { endpoint: 'https://c.example/v1', headers: { authorization: '•••• TELEMETRY.headers.authorization' } },
    transformers: [{ path: 'mine.ts', options: { token: '•••• transformers[0].options.token' } }],
  };
  t.deepEqual(hideSecrets(saved), shown);
  const reordered = { ...shown, transformers: ['maxtoken', ...shown.transformers] };
  t.deepEqual(putSecretsBack(reordered, saved), { ...saved, transformers: ['maxtoken', ...saved.transformers] });
  const elsewhere = {
    TELEMETRY: { ...shown.TELEMETRY, endpoint: 'https://o.example/v1' },
    transformers: shown.transformers.map((entry) => ({ ...entry, path: 'other.ts' })),
  };
  t.deepEqual(putSecretsBack(elsewhere, saved), elsewhere);
  const usual = { TELEMETRY: { headers: shown.TELEMETRY.headers } };
  t.deepEqual(putSecretsBack(usual, saved), usual);
});

test('a placeholder without a secret is a fault, with its path', (t) => {
  const message =
    'is the placeholder "•••• Providers[b].apiKey", and no secret is stored for it at this address; enter the secret';
  t.deepEqual(placeholderFaults({ Providers: [{ name: 'a', apiKey: ['$K', '•••• Providers[b].apiKey'] }] }), [
    { path: 'Providers[0].apiKey[1]', message },
  ]);
});
