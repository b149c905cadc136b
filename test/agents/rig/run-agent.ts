import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { ExecutionContext } from 'ava';
import { type Agent, answer, mainTask, type Scenario } from './agent.ts';
import { type AgentGateway, launcher } from './gateway.ts';
import { destinationOf, type Party } from './parties.ts';
import { runProgram } from './program.ts';
import type { World } from './world.ts';

/** The installed programs' commands. */
const commands = process.env.AGENTS_COMMANDS ?? resolve(import.meta.dirname, '../node_modules/.bin');

/** How long a run of an agent may take, in milliseconds. */
const limitMs = 60_000;

/** Nothing listens here: what isn't for the gateway goes nowhere. */
const nowhere = 'http://127.0.0.1:9';

let cases = 0;

/** Runs an agent through the gateway to this party, and asserts what came of it. */
export const runAgent = async (
  t: ExecutionContext,
  agent: Agent,
  scenario: Scenario,
  party: Party,
  { world, gateway }: { readonly world: World; readonly gateway: AgentGateway },
): Promise<void> => {
  cases += 1;
  const tag = `CASE${String(cases).padStart(4, '0')}X`;
  const place = await mkdtemp(join(tmpdir(), 'junctor-agent-'));
  t.teardown(() => rm(place, { recursive: true, force: true }));
  const [home, work] = [join(place, 'home'), join(place, 'work')];
  await Promise.all([mkdir(home), mkdir(work)]);
  const known = await gateway.lessonsOf(party);
  const record = world.open({
    party,
    tag,
    script: (seen, request) =>
      // An agent that goes in a circle ends.
      request > 2 * scenario.requests ? answer({ text: 'ENOUGH' }) : scenario.script(seen, tag, request),
  });
  const { args, env } = await agent.setUp(
    { home, work, commands, gatewayUrl: gateway.urlFor(party), destination: destinationOf(party) },
    scenario,
    mainTask(tag),
  );
  const { PATH = '' } = process.env;
  const [command, ...first] = agent.isRun
    ? [process.execPath, launcher, 'run', agent.command]
    : [join(commands, agent.command)];
  const program = runProgram(command, [...first, ...args], {
    cwd: work,
    env: {
      PATH: `${commands}:${PATH}`,
      HOME: home,
      HTTP_PROXY: nowhere,
      HTTPS_PROXY: nowhere,
      NO_PROXY: '127.0.0.1',
      ...(agent.isRun && { JUNCTOR_HOME: gateway.home }),
      ...env,
    },
    limitMs,
  });
  t.teardown(program.stop);
  const { code, out, err, late } = await program.ended;
  const said = `${out}\n${err}`;
  const complaints = [...new Set(record.complaints)];
  t.deepEqual(complaints, [], `the vendor has complaints; the agent said: ${tail(said)}`);
  t.false(late, `it hangs after ${record.requests.length} requests: ${tail(said)}`);
  for (const pattern of scenario.says(tag)) t.regex(said, pattern);
  t.is(code === 0, scenario.fails !== true, tail(said));
  const { handshake } = scenario;
  if (handshake) {
    t.true(await gateway.hasShaken(party, handshake), `no handshake got ${handshake}: ${tail(said)}`);
    t.notRegex(said, /falling back/i, 'it leaves the WebSocket connection for HTTP');
  }
  const { refused } = record;
  t.true(refused.length <= 1, `${refused.length} refused requests: the first one teaches`);
  const taught = (await gateway.lessonsOf(party)) - known;
  if (refused.length > 0 || party.teaches)
    t.is(taught > 0, refused.length > 0, `what it taught is remembered: ${refused}`);
  t.log(refused.length > 0 ? `refused once: ${refused}` : 'nothing to refuse');
  t.true(record.requests.length <= scenario.requests, `${record.requests.length} requests`);
};

const tail = (text: string): string => text.slice(-600);
