import { existsSync } from 'node:fs';
import test from 'ava';
import { request } from 'undici';
import { loadShipped, loadStages } from '../../engine/config/custom/load-stages.ts';
import { bundleOptions } from '../../engine/launch/compile.js';
import { shipped } from '../../transformers/index.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { chatReply } from '../support/upstreams/chat-stream.ts';
import { jsonAnswer, type ScriptedUpstream, startUpstream } from '../support/upstreams/upstream.ts';

test('each shipped stage is a module that says what it is for, and that a bundle has', async (t) => {
  const { entryPoints } = bundleOptions('/', '/');
  for (const name of shipped) {
    const { about = '', options, halves, ...stage } = await loadShipped(name);
    t.is(stage.name, name);
    t.regex(about, /^[A-Z].*\.$/);
    t.true(Object.values(halves).includes(true));
    for (const [option, schema] of Object.entries(Object(options).properties))
      t.regex(String(Object(schema).description), /\S/, `${name}.${option}`);
    const file = entryPoints[`stage-${name}`] ?? '';
    t.true(existsSync(file), file);
  }
});

let upstream: ScriptedUpstream;
let gateway: TestGateway;

/** Says in the system prompt that it was there. */
const marks = (declared: string): string => `import { transformer } from 'junctor/transformer';
  export default transformer({ name: 'marks', ${declared},
    request: (asked) => ({ ...asked, system: [...asked.system, { type: 'text', text: 'MARK' }] }) });`;

const picture = 'data:image/png;base64,iVBORw0KGgo=';
const withPicture = [{ role: 'user', content: [{ type: 'image_url', image_url: { url: picture } }] }];
const withText = [{ role: 'user', content: 'hello' }];

test.before(async () => {
  upstream = await startUpstream(() => jsonAnswer(chatReply('fine')));
  gateway = await startGateway(
    {
      TIMEOUTS: { stageMs: 600_000 },
      Providers: [
        { name: 'p', baseUrl: upstream.url, apiKey: 'k', models: ['m', { name: 'blind', input: ['text'] }, 'failing'] },
      ],
      transformers: [
        { path: 'pictures.ts', models: ['m', 'blind'], when: { not: { headers: { 'x-without': true } } } },
        { path: 'fails.ts', models: ['failing'] },
      ],
    },
    {},
    {
      files: {
        'pictures.ts': marks(
          `when: { images: true }, concerns: ({ provider, model, format, isVendor, input, window }) => {
             if (provider !== 'p' || format !== 'openai' || isVendor || window !== undefined) throw new Error('not so');
             return model !== 'm' && input?.includes('image') === false;
           }`,
        ),
        'fails.ts': marks(`concerns: () => { throw new Error('oh no'); }`),
      },
    },
  );
});

test.after.always(async () => {
  await gateway?.stop();
  await upstream?.close();
});

/** Sends a body with its own spacing; returns the status and whether the stage was there, else whether the body came as it was sent. */
const ask = async (model: string, messages: readonly object[], headers: Readonly<Record<string, string>> = {}) => {
  const body = JSON.stringify({ model: `p,${model}`, messages }, undefined, 3);
  const before = upstream.requests.length;
  const answer = await request(`${gateway.baseUrl}/v1/chat/completions`, { method: 'POST', headers, body });
  const text = await answer.body.text();
  const got = upstream.requests[before]?.text ?? '';
  if (answer.statusCode !== 200) return text;
  if (got.includes('MARK')) return 'marked';
  return got === body.replace(`p,${model}`, model) ? 'as sent' : got;
};

test.serial('a module is there for requests and destinations that it is for, and no other', async (t) => {
  t.is(await ask('blind', withPicture), 'marked');
  t.is(await ask('blind', withText), 'as sent');
  t.is(await ask('blind', withPicture, { 'x-without': '1' }), 'as sent');
  t.is(await ask('m', withPicture), 'as sent');
});

test.serial("a module that can't say whether it is for a destination fails requests to it", async (t) => {
  t.regex(await ask('failing', withText), /Transformer \\"fails\\" can't be used: its concerns failed: oh no/);
});

test.serial('the list of transformers has shipped stages that no entry names', async (t) => {
  const { body } = await request(`${gateway.baseUrl}/api/transformers`);
  const { transformers } = Object(await body.json());
  for (const name of shipped) {
    const row = transformers.find((one: { readonly name: string }) => one.name === name);
    t.like(row, { kind: 'stage', state: 'loaded' });
  }
});

test('a condition that a module declares is checked', async (t) => {
  const broken = await startGateway(
    { Providers: [{ name: 'p', baseUrl: upstream.url, apiKey: 'k', models: ['m'] }], transformers: [{ path: 'x.ts' }] },
    {},
    { files: { 'x.ts': marks(`when: { picture: true }`) } },
  );
  t.teardown(broken.stop);
  const { body } = await request(`${broken.baseUrl}/api/transformers`);
  t.regex(await body.text(), /its when.picture is unknown/);
});

for (const [name, options, path, message] of [
  ['judge', { rules: 5 }, 'rules', 'must be string'],
  ['search', { service: 'searxng' }, 'url', 'is required for searxng'],
  ['search', { service: 'brave', apiKey: '' }, 'apiKey', 'is required for brave'],
  ['search', { service: 'brave', apiKey: 'k', maxSearches: 0 }, 'maxSearches', 'must be >= 1'],
] as const) {
  test(`options of a shipped stage are checked by its entry: ${name}, ${JSON.stringify(options)}`, async (t) => {
    const entry = { at: 'transformers[2]', name, options };
    const loaded = (await loadStages([entry], { home: '/', allowed: [] }, shipped)).get(entry.at);
    const findings = loaded && 'problem' in loaded ? loaded.findings : [];
    t.deepEqual(findings, [{ path: `transformers[2].options.${path}`, message }]);
  });
}
