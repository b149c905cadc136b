import { spawnSync } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { parse } from 'yaml';
import { validateConfig } from '../../engine/config/validate.ts';
import { isJsonObject, type Json, type JsonObject } from '../../engine/model/json/json.ts';
import { later } from '../../engine/runtime/within.ts';
import { startGateway } from '../support/gateway.ts';
import { startHaproxy } from '../support/processes/haproxy.ts';
import { isMissing } from '../support/processes/redis.ts';
import { chatReply, chatStream } from '../support/upstreams/chat-stream.ts';
import { jsonAnswer, sseAnswer, startUpstream } from '../support/upstreams/upstream.ts';

const root = resolve(import.meta.dirname, '../..');
const folder = join(root, 'deploy');
const read = (path: string) => readFile(join(folder, path), 'utf8');
const yaml = async (path: string): Promise<JsonObject> => objectIn(parse(await read(path)));

const objectIn = (value: unknown): JsonObject => {
  if (isJsonObject(value)) return value;
  throw new Error(`not an object: ${JSON.stringify(value)}`);
};

/** A member of members. */
const at = (value: Json | undefined, ...path: readonly string[]): Json | undefined =>
  path.reduce<Json | undefined>((node, name) => (isJsonObject(node) ? node[name] : undefined), value);

const env = {
  JUNCTOR_KEY: 'a-key',
  JUNCTOR_STORE: 'redis://valkey:6379',
  JUNCTOR_FLEET_KEY: '01'.repeat(32),
  ANTHROPIC_API_KEY: 'k',
};

/** What the templates of the chart use of Helm's language. */
const render = (template: string, values: JsonObject): string =>
  template.replace(/\{\{ (toJson )?(?:\.([\w.]+)|\(toJson \.([\w.]+)\)) \}\}/g, (_, quoted, plain, inner) => {
    const found = at({ Values: values, Release: { Name: 'junctor' } }, ...String(plain ?? inner).split('.'));
    const text = inner === undefined ? found : JSON.stringify(found);
    return quoted === undefined ? String(text) : JSON.stringify(text);
  });

const label = 'app.kubernetes.io/name';

const setImage = (deployment: JsonObject, image: Json | undefined): void => {
  const containers = at(deployment, 'spec', 'template', 'spec', 'containers');
  if (Array.isArray(containers)) Object.assign(objectIn(containers[0]), { image });
};

/** What stands in the files for the image, which each user builds. */
const imageOf = (deployment: JsonObject): Json | undefined => {
  const containers = at(deployment, 'spec', 'template', 'spec', 'containers');
  return Array.isArray(containers) ? at(containers[0], 'image') : undefined;
};

test('the chart makes the same objects as the Kubernetes base does', async (t) => {
  const values = await yaml('helm/junctor/values.yaml');
  const names = await readdir(join(folder, 'helm/junctor/templates'));
  const { resources } = await yaml('kubernetes/base/kustomization.yaml');
  t.deepEqual(
    names.filter((name) => name !== 'config-map.yaml').toSorted(),
    [...(Array.isArray(resources) ? resources : [])].toSorted(),
  );
  for (const name of names) {
    const text = render(await read(`helm/junctor/templates/${name}`), values);
    t.false(text.includes('{{'), name);
    const made = objectIn(parse(text));
    if (name === 'config-map.yaml') {
      const config = JSON.parse(String(at(made, 'data', 'config.json')));
      t.deepEqual(config, JSON.parse(await read('kubernetes/base/config.json')));
      continue;
    }
    // What kustomize adds: the label, and selectors of it where there are labels of pods.
    const base = structuredClone(await yaml(`kubernetes/base/${name}`));
    const labels = { [label]: 'junctor' };
    Object.assign(objectIn(base.metadata), { labels });
    const spec = objectIn(base.spec);
    if (name === 'deployment.yaml') {
      Object.assign(spec, { selector: { matchLabels: labels } });
      Object.assign(objectIn(spec.template), { metadata: { labels } });
    }
    // The overlay adds the tag.
    if (name === 'deployment.yaml') {
      const [before, after] = [imageOf(base), imageOf(made)];
      t.regex(String(after), new RegExp(`^${before}:\\d`));
      setImage(made, before);
    }
    if (name === 'service.yaml') Object.assign(spec, { selector: labels });
    t.deepEqual(made, base, name);
  }
});

test('each configuration is valid, and a pod has the time that its streams have', async (t) => {
  for (const path of ['fleet.config.json', 'kubernetes/base/config.json']) {
    const { warnings, ...result } = validateConfig(objectIn(JSON.parse(await read(path))), env);
    t.deepEqual(warnings, []);
    if (!('config' in result)) return t.fail(`${path}: ${JSON.stringify(result)}`);
    const { leaveMs, drainMs } = result.config.timeouts;
    const seconds = (leaveMs + drainMs) / 1_000 + 20;
    const pod = at(await yaml('kubernetes/base/deployment.yaml'), 'spec', 'template', 'spec');
    t.is(at(pod, 'terminationGracePeriodSeconds'), seconds);
    const { services } = objectIn(parse(await read('compose.fleet.yaml'), { merge: true }));
    for (const name of ['one', 'two', 'three']) t.is(at(services, name, 'stop_grace_period'), `${seconds}s`);
  }
});

test('compose: what is mounted is there, and no service may do more than it needs', async (t) => {
  const { services } = objectIn(parse(await read('compose.fleet.yaml'), { merge: true }));
  t.deepEqual(Object.keys(objectIn(services)), ['one', 'two', 'three', 'haproxy', 'valkey']);
  for (const [name, service] of Object.entries(objectIn(services))) {
    const volumes = at(service, 'volumes');
    for (const volume of Array.isArray(volumes) ? volumes : []) {
      const [path = '', , mode] = String(volume).split(':');
      t.is(mode, 'ro');
      t.true((await read(path)).length > 0, path);
    }
    const ports = at(service, 'ports');
    t.deepEqual(ports, name === 'haproxy' ? ['127.0.0.1:3456:3456'] : undefined);
  }
});

/** The objects of a folder as kubectl renders it. */
const kustomized = (t: ExecutionContext, path: string): readonly JsonObject[] => {
  const { status, stdout, stderr } = spawnSync('kubectl', ['kustomize', join(folder, 'kubernetes', path)], {
    encoding: 'utf8',
  });
  t.is(status, 0, stderr);
  return stdout.split('\n---\n').map((text) => objectIn(parse(text)));
};

test('kubectl renders the base and the example, whose parts find each other', (t) => {
  if (isMissing(t, 'kubectl', 'version', '--client')) return;
  t.is(kustomized(t, 'base').length, 5);
  const objects = kustomized(t, 'overlays/example');
  t.deepEqual(objects.map(({ kind }) => kind).toSorted(), [
    'ConfigMap',
    'Deployment',
    'HorizontalPodAutoscaler',
    'NetworkPolicy',
    'PodDisruptionBudget',
    'Service',
  ]);
  const of = (kind: string): JsonObject => objectIn(objects.find((object) => object.kind === kind));
  const deployment = of('Deployment');
  t.deepEqual(new Set(objects.map((object) => at(object, 'metadata', 'namespace'))), new Set(['junctor']));
  t.regex(String(imageOf(deployment)), /^registry\.example\/junctor:\d/);
  const labels = at(deployment, 'spec', 'template', 'metadata', 'labels');
  for (const selector of [
    at(deployment, 'spec', 'selector', 'matchLabels'),
    at(of('Service'), 'spec', 'selector'),
    at(of('PodDisruptionBudget'), 'spec', 'selector', 'matchLabels'),
    at(of('NetworkPolicy'), 'spec', 'podSelector', 'matchLabels'),
  ]) {
    t.deepEqual(selector, labels);
  }
  const { kind, metadata } = deployment;
  t.like(at(of('HorizontalPodAutoscaler'), 'spec', 'scaleTargetRef'), { kind, name: at(metadata, 'name') });
  t.is(at(deployment, 'spec', 'replicas'), undefined, "it is the autoscaler's");
  // Each version of the configuration has a name of its own.
  const map = String(at(of('ConfigMap'), 'metadata', 'name'));
  t.regex(map, /^junctor-\w+$/);
  t.true(JSON.stringify(deployment).includes(`"configMap":{"name":"${map}"}`));
});

/** The module of `kubernetes-types`, which is made of Kubernetes' own OpenAPI document, that has an object's type. */
const moduleOf = ({ apiVersion }: JsonObject): string => {
  const version = String(apiVersion).replace('.k8s.io', '');
  return `kubernetes-types/${version.includes('/') ? version : `core/${version}`}`;
};

test('each object has the fields and types of its kind in the published API, and nothing else', async (t) => {
  const values = await yaml('helm/junctor/values.yaml');
  const templates = await readdir(join(folder, 'helm/junctor/templates'));
  const charted = await Promise.all(
    templates.map(async (name) => objectIn(parse(render(await read(`helm/junctor/templates/${name}`), values)))),
  );
  const hasKubectl = spawnSync('kubectl', ['version', '--client']).status === 0;
  const objects = [
    ...charted,
    await yaml('kubernetes/overlays/example/autoscaler.yaml'),
    ...(hasKubectl ? kustomized(t, 'overlays/example') : []),
  ];
  const deployment = charted.find(({ kind }) => kind === 'Deployment') ?? {};
  // What each of these changes is found, too.
  const wrong = [
    ['"containerPort":3456', '"containerPort":"3456"'],
    ['"readinessProbe"', '"readinesProbe"'],
    ['"runAsNonRoot":true', '"runAsNonRoot":"yes"'],
    ['"containers"', '"container"'],
    ['"maxSurge":1', '"maxSurge":true'],
  ].map(([before = '', after = '']): JsonObject => {
    const text = JSON.stringify(deployment);
    t.true(text.includes(before), before);
    return objectIn(JSON.parse(text.replace(before, after)));
  });
  const home = await mkdtemp(join(tmpdir(), 'junctor-kinds-'));
  t.teardown(() => rm(home, { recursive: true, force: true }));
  await symlink(join(root, 'node_modules'), join(home, 'node_modules'), 'junction');
  const write = (name: string, object: JsonObject) =>
    writeFile(
      join(home, name),
      `import type { ${object.kind} } from '${moduleOf(object)}';\nexport const object: ${object.kind} = ${JSON.stringify(object)};\n`,
    );
  await Promise.all(objects.map((object, index) => write(`object-${index}.ts`, object)));
  await Promise.all(wrong.map((object, index) => write(`wrong-${index}.ts`, object)));
  const compilerOptions = { strict: true, noEmit: true, skipLibCheck: true, module: 'preserve', types: [] };
  await writeFile(join(home, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const { stdout } = spawnSync(process.execPath, [tsc, '-p', home, '--pretty', 'false'], { encoding: 'utf8' });
  const faulty = stdout.split('\n').flatMap((line) => /^(?:.*\/)?([^/]+)\(\d.*: error/.exec(line)?.[1] ?? []);
  t.deepEqual(
    [...new Set(faulty)].toSorted(),
    wrong.map((_, index) => `wrong-${index}.ts`),
    stdout,
  );
});

test('HAProxy spreads requests, and neither a stopping gateway nor an absent one loses a request or a stream', async (t) => {
  if (isMissing(t, 'haproxy', '-v')) return;
  t.timeout(120_000);
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const upstream = await startUpstream(({ text }) => {
    if (!text.includes('"stream":true')) return jsonAnswer(chatReply('Hello'));
    const answer = sseAnswer(chatStream(['Hel', 'lo']));
    const slowly = async function* () {
      let isFirst = true;
      for await (const piece of answer.pieces ?? []) {
        yield piece;
        if (isFirst) await released;
        isFirst = false;
      }
    };
    return { ...answer, pieces: slowly() };
  });
  t.teardown(upstream.close);
  const config = {
    LOG: false,
    APIKEY: 'the-key',
    PROXIES: ['127.0.0.1'],
    TIMEOUTS: { leaveMs: 3_000, drainMs: 60_000 },
    Providers: [{ name: 'p', baseUrl: `${upstream.url}/v1`, apiKey: 'k', models: ['m'] }],
  };
  // It leaves, and ends its streams, in real time.
  const gateways = [await startGateway(config, {}, { after: later }), await startGateway(config, {}, { after: later })];
  for (const { stop } of gateways) t.teardown(stop);
  const url = await startHaproxy(
    t,
    gateways.map(({ baseUrl }) => Number(new URL(baseUrl).port)),
  );
  const headers = { 'x-api-key': 'the-key' };
  const ask = (stream: boolean) =>
    fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ model: 'p,m', stream, messages: [{ role: 'user', content: 'hi' }] }),
    });
  const streams = await Promise.all(Array.from({ length: 20 }, () => ask(true)));
  t.true(streams.every(({ status }) => status === 200));
  const active = await Promise.all(
    gateways.map(
      async ({ baseUrl }) =>
        /streams_active (\d+)/.exec(await (await fetch(`${baseUrl}/metrics`, { headers })).text())?.[1],
    ),
  );
  t.true(
    active.every((count) => Number(count) >= 5),
    active.join(),
  );

  let isStopped = false;
  const stopped = gateways[0]?.stop().then(() => {
    isStopped = true;
  });
  const statuses = new Set<number>();
  let asked = 0;
  // Requests go on while it leaves, closes its port, and ends its streams.
  while (!isStopped) {
    const answer = await ask(false);
    await answer.text();
    statuses.add(answer.status);
    asked += 1;
    if (asked === 50) release();
  }
  await stopped;
  t.deepEqual([...statuses], [200]);
  t.true(asked > 50);
  for (const stream of streams) t.regex(await stream.text(), /\[DONE\]/);
});
