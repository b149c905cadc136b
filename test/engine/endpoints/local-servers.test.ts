import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { findProviders } from '../../../engine/cli/commands/provider-commands.ts';
import { findLocalServers, type LocalServerKind, localServerKinds } from '../../../engine/endpoints/local-servers.ts';
import { startGateway } from '../../support/gateway.ts';
import { until } from '../../support/until.ts';
import { jsonAnswer, startUpstream, type UpstreamAnswer } from '../../support/upstreams/upstream.ts';

/*
 * Model servers of this machine: each kind by the answers that its documentation shows, and what else may listen at its port.
 */

type Answers = Readonly<Record<string, unknown>>;

const servers: Readonly<Record<string, Answers>> = {
  ollama: {
    '/api/tags': { models: [{ name: 'qwen3.8:27b' }, { name: 'gemma4' }, { name: 'embed' }, { name: '' }, 7] },
    '/api/show qwen3.8:27b': {
      capabilities: ['completion', 'tools'],
      model_info: { 'general.architecture': 'qwen3', 'qwen3.context_length': 131_072 },
      parameters: 'stop "x"\nnum_ctx                        8192',
    },
    '/api/show gemma4': {
      capabilities: ['completion'],
      model_info: { 'general.architecture': 'gemma4', 'gemma4.context_length': 32_768 },
    },
    '/api/show embed': { capabilities: ['embedding'], model_info: {} },
  },
  lmstudio: {
    '/api/v1/models': {
      models: [
        {
          type: 'llm',
          key: 'org/loaded',
          loaded_instances: [{ id: 'm', config: { context_length: 4096 } }],
          max_context_length: 32_768,
        },
        { type: 'llm', key: 'org/other', loaded_instances: [], max_context_length: 65_536 },
        { type: 'embedding', key: 'embed', max_context_length: 512 },
      ],
    },
  },
  olderStudio: {
    '/api/v0/models': {
      data: [
        { id: 'm', type: 'vlm', state: 'loaded', max_context_length: 32_768, loaded_context_length: 16_384 },
        { id: 'n', type: 'llm', state: 'not-loaded', max_context_length: 8_192 },
        { id: 'embed', type: 'embeddings' },
      ],
    },
  },
  llamacpp: {
    '/props': { default_generation_settings: { n_ctx: 4096 } },
    '/v1/models': { data: [{ id: 'qwen.gguf', meta: { n_ctx_train: 131_072 } }] },
  },
  vllm: {
    '/v1/models': { object: 'list', data: [{ id: 'org/m', owned_by: 'vllm', max_model_len: 131_072 }] },
  },
};

const expected = {
  ollama: [
    { name: 'qwen3.8:27b', contextWindow: 8192 },
    { name: 'gemma4', contextWindow: 32_768 },
  ],
  lmstudio: [
    { name: 'org/loaded', contextWindow: 4096 },
    { name: 'org/other', contextWindow: 65_536 },
  ],
  olderStudio: [
    { name: 'm', contextWindow: 16_384 },
    { name: 'n', contextWindow: 8_192 },
  ],
  llamacpp: [{ name: 'qwen.gguf', contextWindow: 4096 }],
  vllm: [{ name: 'org/m', contextWindow: 131_072 }],
};

const places = { ollama: 'ollama', lmstudio: 'lmstudio', olderStudio: 'lmstudio', llamacpp: 'llamacpp', vllm: 'vllm' };

/** A server with these answers, 404 for all else, as the place of this name. */
const placed = async (
  t: ExecutionContext,
  name: string,
  answers: Answers | UpstreamAnswer,
): Promise<LocalServerKind> => {
  const upstream = await startUpstream(({ url, body }) => {
    if ('pieces' in answers) return answers;
    const key = url === '/api/show' ? `${url} ${(body as { readonly model: string }).model}` : url;
    return key in answers ? jsonAnswer(answers[key as keyof typeof answers]) : jsonAnswer({}, 404);
  });
  t.teardown(upstream.close);
  const place = localServerKinds.find((one) => one.name === name);
  if (!place) throw new Error(name);
  return { ...place, origin: upstream.url, limitMs: 60_000 };
};

for (const [server, name] of Object.entries(places)) {
  test(`${server}: its models, with the window that is served`, async (t) => {
    const place = await placed(t, name, servers[server] ?? {});
    const found = await findLocalServers([place]);
    const models = expected[server as keyof typeof expected];
    t.deepEqual(found, [{ name, title: place.title, baseUrl: `${place.origin}/v1`, models }]);
  });
}

for (const { name } of localServerKinds) {
  test(`${name}: another program at its port is not taken for it`, async (t) => {
    const others: readonly (Answers | UpstreamAnswer)[] = [
      {},
      {
        '/v1/models': { data: [{ id: 'm', owned_by: 'someone' }] },
        '/props': [],
        '/api/tags': 'x',
        '/api/v1/models': 1,
      },
      { pieces: ['not json'] },
      { status: 302, headers: { location: 'http://127.0.0.1:9/' }, pieces: [''] },
      { pieces: [`{"models":"${'x'.repeat(5 << 20)}"}`] },
    ];
    for (const answers of others) {
      t.deepEqual(await findLocalServers([await placed(t, name, answers)]), []);
    }
  });
}

test('the usual ports are loopback, and one place for each kind', (t) => {
  t.deepEqual(
    localServerKinds.map(({ name, origin }) => `${name} ${origin}`),
    [
      'ollama http://127.0.0.1:11434',
      'lmstudio http://127.0.0.1:1234',
      'llamacpp http://127.0.0.1:8080',
      'vllm http://127.0.0.1:8000',
    ],
  );
});

test('a first start without keys names what it found and writes nothing; the API lists it', async (t) => {
  const place = await placed(t, 'vllm', servers.vllm ?? {});
  const gateway = await startGateway(undefined, {}, { localServerKinds: [place] });
  t.teardown(gateway.stop);
  await until(() => gateway.reports.length === 2);
  t.deepEqual(gateway.reports, [
    `found vLLM at ${place.origin}/v1: org/m (131,072 tokens)`,
    '`junctor providers find --add` adds what was found; so does the web interface.',
  ]);
  t.deepEqual(await (await fetch(`${gateway.baseUrl}/api/providers/local`)).json(), {
    servers: [{ name: 'vllm', title: 'vLLM', baseUrl: `${place.origin}/v1`, models: expected.vllm }],
  });
  await t.throwsAsync(readFile(join(gateway.home, 'config.json')), { code: 'ENOENT' });
});

test('providers find prints, and adds only when asked, once, beside what there is', async (t) => {
  const home = await mkdtemp(join(tmpdir(), 'junctor-'));
  t.teardown(() => rm(home, { recursive: true, force: true }));
  const file = join(home, 'config.json');
  const own =
    '{\n  // mine\n  "Providers": [{ "name": "vllm", "baseUrl": "http://127.0.0.1:9", "apiKey": "", "models": ["m"] }]\n}\n';
  await writeFile(file, own);
  const found = [await placed(t, 'vllm', servers.vllm ?? {}), await placed(t, 'ollama', servers.ollama ?? {})];
  const said: string[] = [];
  const cli = {
    env: {},
    home,
    print: (line: string) => void said.push(line),
    warn: (line: string) => void said.push(line),
  };
  await findProviders(cli, {}, found);
  t.is(await readFile(file, 'utf8'), own);
  t.deepEqual(said, [
    `vLLM at ${found[0]?.origin}/v1: org/m (131,072 tokens)`,
    `Ollama at ${found[1]?.origin}/v1: qwen3.8:27b (8,192 tokens), gemma4 (32,768 tokens)`,
  ]);
  await findProviders(cli, { add: true }, found);
  t.is(said.at(-1), 'Added to config.json: vllm-2, ollama.');
  const written = await readFile(file, 'utf8');
  t.regex(written, /\/\/ mine/);
  t.like(JSON.parse(written.replace('// mine', '')), {
    Providers: {
      1: { name: 'vllm-2', baseUrl: `${found[0]?.origin}/v1`, apiKey: '', models: ['org/m'] },
      2: { name: 'ollama', models: ['qwen3.8:27b', 'gemma4'] },
    },
    Router: { default: 'vllm-2,org/m' },
  });
  await findProviders(cli, { add: true }, found);
  t.is(said.at(-1), 'config.json names them already.');
  t.is(await readFile(file, 'utf8'), written);
});

test('providers find --add makes the file where there is none', async (t) => {
  const home = await mkdtemp(join(tmpdir(), 'junctor-'));
  t.teardown(() => rm(home, { recursive: true, force: true }));
  const cli = { env: {}, home, print: () => undefined, warn: () => undefined };
  await findProviders(cli, { add: true }, []);
  await t.throwsAsync(readFile(join(home, 'config.json')), { code: 'ENOENT' });
  await findProviders(cli, { add: true }, [await placed(t, 'vllm', servers.vllm ?? {})]);
  t.like(JSON.parse(await readFile(join(home, 'config.json'), 'utf8')), {
    $schema: './config.schema.json',
    Router: { default: 'vllm,org/m' },
  });
});
