import test from 'ava';
import type { Agent, Scenario } from './agent.ts';
import { claudeCode } from './claude-code.ts';
import { codex } from './codex.ts';
import { type AgentGateway, startGateway } from './gateway.ts';
import { copilot, opencode, qwen } from './others.ts';
import { formatParties, type Party, parties } from './parties.ts';
import { refusingParties } from './refusing.ts';
import { runAgent } from './run-agent.ts';
import { startWorld, type World } from './world.ts';

/**
 * A few runs that find most of what the whole set finds: each scenario of the two agents with several, each party once; each agent at
 * one host that refuses.
 */
const isInBrief = (agent: Agent, scenario: Scenario, party: Party): boolean => {
  if (party.teaches) return refusingParties.indexOf(party) === agents.indexOf(agent);
  if (!versed.includes(agent)) return false;
  const isOnce = scenario.oncePerFormat === true;
  const scenarios = agent.scenarios.filter(({ oncePerFormat = false }) => oncePerFormat === isOnce);
  const number = scenarios.indexOf(scenario);
  // Every second one is each conversation once, over either connection; each at another format.
  if (isOnce) return number % 2 === 0 && formatParties.indexOf(party) === (number / 2) % formatParties.length;
  const place = parties.indexOf(party);
  return (
    place % versed.length === versed.indexOf(agent) && Math.floor(place / versed.length) % scenarios.length === number
  );
};

/** Parties whose models search by themselves. */
const ownSearch: readonly string[] = ['anthropic', 'openai responses', 'openrouter'];

/** Agents with all kinds of conversations; the others have a tool loop. */
const versed: readonly Agent[] = [claudeCode, codex];
const agents: readonly Agent[] = [...versed, opencode, copilot, qwen];

/** Declares the tests of an agent: each of its scenarios against each party. `AGENTS_BRIEF` chooses a few of them. */
export const testAgent = (agent: Agent): void => {
  let world: World;
  let gateway: AgentGateway;
  /** It opens no WebSocket connection. */
  let plainGateway: AgentGateway;

  test.before(async () => {
    world = await startWorld();
    [gateway, plainGateway] = await Promise.all([startGateway(world.proxyUrl), startGateway(world.proxyUrl, 0)]);
  });
  test.after.always(async () => {
    await Promise.all([gateway?.stop(), plainGateway?.stop()]);
    await world?.close();
  });

  const brief = process.env.AGENTS_BRIEF === '1';
  const queue = turns(2);
  const firstTry = agent.scenarios.filter(({ name }) => name === 'a tool loop');
  for (const party of [...parties, ...refusingParties]) {
    for (const scenario of party.teaches ? firstTry : agent.scenarios) {
      if (scenario.oncePerFormat && !party.teaches && !formatParties.includes(party)) continue;
      // The vendor of the agent's own protocol judges by itself.
      if (agent === claudeCode && scenario.isJudged && party.name === 'anthropic') continue;
      if (scenario.searches && ownSearch.includes(party.name)) continue;
      if (brief && !isInBrief(agent, scenario, party)) continue;
      test(`${party.name}: ${scenario.name}`, async (t) => {
        t.timeout(600_000);
        t.teardown(await queue());
        await runAgent(t, agent, scenario, party, {
          world,
          gateway: scenario.handshake === 426 ? plainGateway : gateway,
        });
      });
    }
  }

  test.after('every request belongs to a run', (t) => {
    t.deepEqual([...new Set(world.strays)], []);
  });
};

/** So many at once: resolves when it is the caller's turn, with what ends the turn. */
const turns = (most: number): (() => Promise<() => void>) => {
  const waiting: (() => void)[] = [];
  let atWork = 0;
  return async () => {
    if (atWork >= most) await new Promise<void>((resolve) => waiting.push(resolve));
    else atWork += 1;
    return () => {
      const next = waiting.shift();
      if (next) next();
      else atWork -= 1;
    };
  };
};
