import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { judge } from './judge.ts';
import { type Party, parties, slugOf } from './parties.ts';
import { runProgram } from './program.ts';
import { refusingParties } from './refusing.ts';
import { searxng } from './searxng.ts';
import { list, loose } from './seen.ts';
import { seer } from './seer.ts';
import { keyOf } from './world.ts';

/** A gateway as users run it: a process of its own, whose upstreams are reached through this proxy. */
export interface AgentGateway {
  /** Its folder. */
  readonly home: string;
  /** The address that routes every model to this party. */
  readonly urlFor: (party: Party) => string;
  /** How much this party has taught it. */
  readonly lessonsOf: (party: Party) => Promise<number>;
  /** Whether it has given a WebSocket handshake for this party this status; waits until its log says so. */
  readonly hasShaken: (party: Party, status: number) => Promise<boolean>;
  readonly stop: () => Promise<void>;
}

/** The gateway's own command. */
export const launcher = resolve(import.meta.dirname, '../../../engine/cli/junctor.js');

const search = { service: 'searxng', url: searxng.baseUrl };

/** How long it may take until it listens, and how long it may run at all, in milliseconds. */
const limitMs = 3_600_000;

/** `webSockets`: how many connections it opens. */
export const startGateway = async (proxyUrl: string, webSockets = 100): Promise<AgentGateway> => {
  const all = [...parties, ...refusingParties];
  const home = await mkdtemp(join(tmpdir(), 'junctor-agents-'));
  const config = {
    PORT: 0,
    // The server log has the handshakes.
    LOG: true,
    LIMITS: { webSockets },
    // What a vendor refuses is to be seen as it is, and at once; a broken stream is the agent's to repeat.
    RETRY: { attempts: 0 },
    BREAKER: { faults: 1_000 },
    Providers: [
      ...all.map((party) => ({
        name: slugOf(party),
        baseUrl: party.baseUrl,
        apiKey: keyOf(party),
        models: [{ name: party.model, input: ['text'] }],
      })),
      ...[judge, seer].map(({ name, baseUrl, model }) => ({ name, baseUrl, apiKey: 'k', models: [model] })),
    ],
    Router: {
      rules: [{ name: 'auto-review', when: { model: 'codex-auto-review' }, to: `${judge.name},${judge.model}` }],
    },
    transformers: [
      // Gemini's models search by themselves, but the stage must do with their format, too.
      { name: 'search', provider: 'gemini', options: { ...search, always: true } },
      { name: 'search', options: search },
      { name: 'judge', ask: [`${judge.name},${judge.model}`] },
      { name: 'see', ask: [`${seer.name},${seer.model}`] },
      ...all.flatMap((party) => (party.options ? [{ ...party.options, provider: slugOf(party) }] : [])),
    ],
  };
  await writeFile(join(home, 'config.json'), JSON.stringify(config));
  for (const party of all) {
    const folder = join(home, 'presets', slugOf(party));
    await mkdir(folder, { recursive: true });
    const manifest = { Router: { default: `${slugOf(party)},${party.model}` } };
    await writeFile(join(folder, 'manifest.json'), JSON.stringify(manifest));
  }
  const { PATH = '', JUNCTOR_HTTP = '' } = process.env;
  const service = runProgram(process.execPath, [launcher, 'start'], {
    cwd: home,
    env: { PATH, JUNCTOR_HTTP, HOME: home, JUNCTOR_HOME: home, HTTP_PROXY: proxyUrl },
    limitMs,
  });
  const stop = async (): Promise<void> => {
    await service.stop();
    await rm(home, { recursive: true, force: true });
  };
  try {
    const [baseUrl] = await service.says(/http:\/\/127\.0\.0\.1:\d+/);
    return {
      home,
      urlFor: (party) => `${baseUrl}/preset/${slugOf(party)}`,
      async lessonsOf(party) {
        const response = await fetch(`${baseUrl}/api/upstreams`);
        const { upstreams } = loose(await response.json());
        const row = list(upstreams).find(({ provider }) => provider === slugOf(party));
        return list(row?.taught).length;
      },
      hasShaken: (party, status) => within(5_000, () => hasLogged(home, `/preset/${slugOf(party)}/`, status)),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
};

/** Whether the server log has a GET below this path that was answered so. */
const hasLogged = async (home: string, path: string, status: number): Promise<boolean> => {
  const folder = join(home, 'logs');
  const files = (await readdir(folder)).filter((name) => name.startsWith('junctor-'));
  const texts = await Promise.all(files.map((name) => readFile(join(folder, name), 'utf8')));
  const lines = texts.join('').split('\n');
  return lines
    .filter((line) => line.includes('"method":"GET"') && line.includes(path))
    .some((line) => {
      const [, id = 'none'] = /"req":\{"id":(\d{1,9}),/.exec(line) ?? [];
      return lines.some((other) => other.includes(`"reqId":${id},`) && other.includes(`"statusCode":${status}`));
    });
};

/** Whether it holds within this time. */
const within = async (ms: number, holds: () => Promise<boolean>): Promise<boolean> => {
  for (let waited = 0; waited < ms; waited += 100) {
    if (await holds()) return true;
    await wait(100);
  }
  return false;
};
