import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { parse } from 'yaml';
import { freePort } from '../../engine/http/bind.ts';
import { isMissing } from '../support/processes/redis.ts';
import { until } from '../support/until.ts';

const root = resolve(import.meta.dirname, '../..');
const read = (name: string): Promise<string> => readFile(join(root, name), 'utf8');

interface Instruction {
  readonly name: string;
  readonly rest: string;
}

/** The instructions of the Dockerfile, stage by stage. */
const stages = async (): Promise<readonly (readonly Instruction[])[]> => {
  const text = (await read('Dockerfile')).replace(/^#.*\n/gm, '').replace(/\\\n\s*/g, '');
  const list: Instruction[][] = [];
  for (const line of text.split('\n').filter((one) => one.trim() !== '')) {
    const [, name = '', rest = ''] = /^([A-Z]+) +(.*)$/.exec(line) ?? [];
    if (name === 'FROM') list.push([]);
    list.at(-1)?.push({ name, rest });
  }
  return list;
};

/** The base image of all stages. */
const base = async (): Promise<string> => /^ARG BASE=(.*)$/m.exec(await read('Dockerfile'))?.[1] ?? '';

const restsOf = (stage: readonly Instruction[], name: string): readonly string[] =>
  stage.filter((row) => row.name === name).map(({ rest }) => rest);

/** An exec form: its words. Anything else throws. */
const words = (text: string): readonly string[] => JSON.parse(text);

const envOf = (stage: readonly Instruction[]): Record<string, string> =>
  Object.fromEntries(
    restsOf(stage, 'ENV').flatMap((rest) => [...rest.matchAll(/(\w+)=(\S+)/g)].map((m) => [m[1], m[2]])),
  );

/** What the last stage copies from the repository. */
const copied = (stage: readonly Instruction[]): readonly string[] =>
  restsOf(stage, 'COPY')
    .filter((rest) => !rest.startsWith('--from'))
    .flatMap((rest) => rest.split(/ +/).slice(0, -1));

test('the image is built from a plain base that the HTTP server runs on', async (t) => {
  const list = await stages();
  t.true(list.length > 1);
  for (const [from] of list) {
    // A release gives one base, with its digest, to all stages.
    t.regex(from?.rest ?? '', /^(--platform=\$BUILDPLATFORM )?\$\{BASE\}( AS \w+)?$/);
  }
  // No registry's host, nothing that moves by itself, and glibc: Alpine has none.
  t.regex(await base(), /^node:\d+-trixie-slim$/);
});

test('the image is the same for amd64 and arm64', async (t) => {
  const list = await stages();
  t.notRegex(await read('Dockerfile'), /amd64|x86_64|x64|arm64|aarch64|TARGET(?:ARCH|PLATFORM)/);
  const isNative = (stage: readonly Instruction[]) => stage[0]?.rest.startsWith('--platform=$BUILDPLATFORM ') === true;
  const names = list.filter(isNative).map(([from]) => / AS (\w+)$/.exec(from?.rest ?? '')?.[1]);
  t.deepEqual(names, ['interface']);
  const fromInterface = restsOf(list.at(-1) ?? [], 'COPY').filter((rest) => rest.startsWith('--from=interface '));
  t.deepEqual(fromInterface, ['--from=interface /app/ui/dist ./ui/dist'], 'native packages are those of the processor');
  const { packages } = JSON.parse(await read('package-lock.json'));
  const node = /node:(\d+)/.exec(await base())?.[1];
  for (const cpu of ['x64', 'arm64']) {
    for (const name of [`@uwsjs/linux-${cpu}-${node}`, `@esbuild/linux-${cpu}`]) {
      t.like(packages[`node_modules/${name}`], { os: ['linux'], cpu: [cpu] }, name);
    }
  }
});

test('the image runs as an unprivileged user, takes signals, and tells its health', async (t) => {
  const stage = (await stages()).at(-1) ?? [];
  t.regex(
    restsOf(stage, 'USER')[0] ?? '',
    /^[1-9]\d*(:[1-9]\d*)?$/,
    'a number, so that an orchestrator can see that it is not root',
  );
  t.deepEqual(restsOf(stage, 'STOPSIGNAL'), ['SIGTERM']);
  t.deepEqual(restsOf(stage, 'VOLUME'), [envOf(stage).JUNCTOR_HOME ?? '']);
  t.is(
    words(restsOf(stage, 'ENTRYPOINT')[0] ?? '')[0],
    'node',
    'no shell and no npm between the signals and the service',
  );
  t.deepEqual(words(restsOf(stage, 'CMD')[0] ?? ''), ['start']);
  t.is(words(/CMD (.*)$/.exec(restsOf(stage, 'HEALTHCHECK')[0] ?? '')?.[1] ?? '')[0], 'node');
  const names = stage.map(({ name }) => name);
  t.true(
    names.lastIndexOf('USER') > names.lastIndexOf('COPY'),
    'its files belong to root, so that it can not change them',
  );
});

test('all that is copied is there, and let through to the build', async (t) => {
  const ignore = (await read('.dockerignore')).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  t.is(ignore[0], '*');
  for (const path of (await stages()).flatMap(copied)) {
    const [entry = ''] = path.split('/');
    t.true(existsSync(join(root, path)), `${path} is there`);
    t.true(ignore.includes(`!${entry}`), `${entry} is let through`);
  }
  t.false(ignore.some((line) => /^!(?:test|\.git|node_modules|docs)/.test(line)));
});

test('compose: no key, no service; nothing writable but the data and /tmp', async (t) => {
  const text = await read('compose.yaml');
  for (const line of [
    /^ +- ['"]127\.0\.0\.1:3456:3456['"]$/m,
    /^ +JUNCTOR_APIKEY: \$\{JUNCTOR_APIKEY:\?.+\}$/m,
    /^ +read_only: true$/m,
    /^ +- data:\/data$/m,
    /^ +- no-new-privileges:true$/m,
    /^ +stop_grace_period: (?:[4-9]\d|\d{3,})s$/m,
  ]) {
    t.regex(text, line);
  }
});

/** A folder with the image's `/app`, whose packages are links into `packages`, and an empty `/data`. */
const imageFolder = async (t: ExecutionContext, packages: string): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'junctor-image-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const app = join(folder, 'app');
  await mkdir(app);
  await mkdir(join(folder, 'data'));
  for (const path of copied((await stages()).at(-1) ?? [])) {
    await cp(join(root, path), join(app, path), { recursive: true });
  }
  await mkdir(join(app, 'node_modules'));
  // Without `.cache`: the bundle made here is not this checkout's.
  for (const name of await readdir(join(root, 'node_modules'))) {
    if (name !== '.cache') await symlink(join(packages, name), join(app, 'node_modules', name));
  }
  return folder;
};

test("the image's files are enough: its commands start the service, find it healthy, and stop it", async (t) => {
  const stage = (await stages()).at(-1) ?? [];
  const folder = await imageFolder(t, join(root, 'node_modules'));
  const [app, data] = [join(folder, 'app'), join(folder, 'data')];

  const env = {
    PATH: process.env.PATH ?? '',
    ...envOf(stage),
    JUNCTOR_HOME: data,
    JUNCTOR_PORT: String(await freePort('127.0.0.1')),
  };
  const begin = (command: readonly string[], more = {}) => {
    const [program = '', ...args] = command.map((word) => word.replace(/^\/app\//, `${app}/`));
    const child = spawn(program, args, { cwd: app, env: { ...env, ...more }, stdio: ['ignore', 'ignore', 'pipe'] });
    let err = '';
    child.stderr.on('data', (text) => {
      err += text;
    });
    t.teardown(() => child.kill('SIGKILL'));
    return {
      child,
      ended: new Promise<{ code: number | null; err: string }>((resolve) =>
        child.once('close', (code) => resolve({ code, err })),
      ),
    };
  };
  const start = [...words(restsOf(stage, 'ENTRYPOINT')[0] ?? ''), ...words(restsOf(stage, 'CMD')[0] ?? '')];
  const health = words(/CMD (.*)$/.exec(restsOf(stage, 'HEALTHCHECK')[0] ?? '')?.[1] ?? '');

  t.is((await begin(health).ended).code, 1, 'nothing runs yet');
  const keyless = await begin(start).ended;
  t.is(keyless.code, 1);
  t.regex(keyless.err, /APIKEY must be set/);

  const service = begin(start, { JUNCTOR_APIKEY: 'a-key-of-mine' });
  // Its own answer is asked for until it comes; the test's time limit ends the wait.
  const url = `http://127.0.0.1:${env.JUNCTOR_PORT}/health`;
  while (!(await fetch(url).catch(() => undefined)) && service.child.exitCode === null) await wait(100);
  // The file that tells where it answers is written just after.
  let code: number | null = 1;
  while (code !== 0 && service.child.exitCode === null) code = (await begin(health).ended).code;
  t.is(code, 0);
  service.child.kill('SIGTERM');
  t.is((await service.ended).code, 0);
  t.is((await begin(health).ended).code, 1);
});

/**
 * Makes a pod's container of namespaces, as its PID 1: the image's folder, root, user, environment and command are the arguments. The
 * root is read-only, with the packages and this machine's programs in place of the base image's.
 */
const container = `set -e
image=$1 packages=$2 config=$3 user=$4 address=$5; shift 5
ip link set lo up
ip address add "$address/32" dev lo
mount --make-rprivate /
root=$image/root
mkdir "$root"
mount -t tmpfs root "$root"
cd "$root"
mkdir app config data dev etc image proc tmp usr image/node_modules
for name in bin sbin lib lib64; do [ ! -e "/$name" ] || ln -s "usr/$name" "$name"; done
mount --rbind /dev dev
mount --bind /usr usr
mount --bind "$packages" image/node_modules
mount --bind "$image/app" app
mount --bind "$config" config
mount -t proc proc proc
chroot . node /app/engine/cli/junctor.js --version >&2
mount -t tmpfs -o size=1g,mode=2775,gid="$user" data data
mount -t tmpfs -o size=64m,mode=1777 tmp tmp
for path in usr image/node_modules app config .; do mount -o remount,bind,ro "$path"; done
exec chroot . setpriv --reuid "$user" --regid "$user" --groups "$user" --bounding-set=-all --inh-caps=-all --no-new-privs \
  env -i -C /app "$@"`;

interface PodSpec {
  readonly spec: {
    readonly template: {
      readonly spec: {
        readonly securityContext: { readonly runAsUser: number };
        readonly containers: readonly {
          readonly ports: readonly { readonly containerPort: number }[];
          readonly env: readonly { readonly name: string; readonly value: string }[];
          readonly startupProbe: { readonly httpGet: { readonly path: string } };
          readonly readinessProbe: { readonly httpGet: { readonly path: string } };
        }[];
      };
    };
  };
}

test("the pod's specification works as it is written, in namespaces", async (t) => {
  const programs = [
    ['unshare', '--mount', '--net', '--pid', '--fork', 'true'],
    ...['nsenter', 'setpriv', 'ip'].map((name) => [name, '-V']),
  ];
  for (const [program = '', ...args] of programs) if (isMissing(t, program, ...args)) return;
  if (process.getuid?.() !== 0 || process.execPath !== '/usr/bin/node')
    return t.pass('needs root, and Node.js in /usr');
  const stage = (await stages()).at(-1) ?? [];
  const deployment: PodSpec = parse(await read('deploy/kubernetes/base/deployment.yaml'));
  const { securityContext, containers } = deployment.spec.template.spec;
  const [spec] = containers;
  if (!spec) return t.fail();
  const image = await imageFolder(t, '/image/node_modules');
  // A ConfigMap's folder: links that an update replaces as a whole.
  const config = join(image, 'config');
  await mkdir(join(config, '..one'), { recursive: true });
  await cp(join(root, 'deploy/kubernetes/base/config.json'), join(config, '..one/config.json'));
  await symlink('..one', join(config, '..data'));
  await symlink('..data/config.json', join(config, 'config.json'));

  const address = '10.1.2.3';
  const secret = { JUNCTOR_KEY: 'a-key', JUNCTOR_STORE: 'redis://127.0.0.1:6379', ANTHROPIC_API_KEY: 'k' };
  const env = {
    ...envOf(stage),
    PATH: '/usr/bin',
    ...Object.fromEntries(spec.env.map(({ name, value }) => [name, value])),
    ...secret,
    JUNCTOR_FLEET_KEY: '01'.repeat(32),
  };
  const user = String(securityContext.runAsUser);
  const child = spawn(
    'unshare',
    [
      ...['--mount', '--net', '--pid', '--fork', '--kill-child', 'sh', '-c', container, 'sh'],
      ...[image, join(root, 'node_modules'), config, user, address],
      ...Object.entries(env).map(([name, value]) => `${name}=${value}`),
      ...words(restsOf(stage, 'ENTRYPOINT')[0] ?? ''),
      ...words(restsOf(stage, 'CMD')[0] ?? ''),
    ],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (text) => {
      output += text;
    });
  }
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  t.teardown(() => {
    child.kill('SIGKILL');
    return ended;
  });

  /** The status of each path, asked for at the same time. */
  const status = async (...paths: readonly string[]): Promise<string> => {
    const urls = paths.map((path) => `http://${address}:${spec.ports[0]?.containerPort}${path}`);
    const ask = `Promise.all(${JSON.stringify(urls)}.map((url) => fetch(url).then(({ status }) => status, () => 0)))
      .then((all) => console.log(all.join(' ')))`;
    const asked = spawn('nsenter', [`--net=/proc/${await pid()}/ns/net`, process.execPath, '-e', ask]);
    let text = '';
    for await (const data of asked.stdout) text += data;
    return text.trim();
  };
  /** The container's PID 1, as this machine counts. */
  const pid = async (): Promise<number> => {
    const children = await readFile(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').catch(() => '');
    return Number.parseInt(children, 10);
  };
  const untilStatus = (expected: string): Promise<void> =>
    until(async () => {
      if (child.exitCode !== null) throw new Error(output);
      return (await status(spec.startupProbe.httpGet.path, spec.readinessProbe.httpGet.path)) === expected;
    });
  // It is ready without its store.
  await untilStatus('200 200');
  const process1 = await readFile(`/proc/${await pid()}/status`, 'utf8');
  t.regex(process1, new RegExp(`^Uid:\\t${user}\\t${user}\\t`, 'm'));
  t.regex(process1, /^CapEff:\t0+$/m);
  t.regex(process1, /^CapBnd:\t0+$/m);
  t.regex(process1, /^NoNewPrivs:\t1$/m);
  t.notRegex(output, /EACCES|EPERM|EROFS/);

  process.kill(await pid(), 'SIGTERM');
  // It serves while it leaves.
  await untilStatus('200 503');
  t.is(await ended, 0, output);
});
