import type { Config, Pool } from '../config/config.ts';
import { type Destination, findProvider } from '../config/sections/destination.ts';
import type { ClientProtocol } from '../model/protocol.ts';
import type { ModelRequest } from '../model/request.ts';
import { breakerState } from '../upstream/health/breaker.ts';
import { textHash } from '../upstream/health/choose-key.ts';
import type { UpstreamHealth } from '../upstream/health/health.ts';
import type { Load } from '../upstream/health/load.ts';
import type { Plan, PlanKey } from './plan/plan.ts';
import { type Candidate, type Chosen, chooseBy } from './pool-strategies.ts';
import type { Resolution } from './resolve.ts';

/** A request for which a member is chosen. */
interface PoolQuestion {
  readonly client: ClientProtocol;
  readonly request: ModelRequest;
  /** The model that the client asked for. */
  readonly progress: { readonly requestedModel: string | undefined };
  /** The positions of the transformers' entries whose conditions hold; absent: as if all did. */
  readonly holding?: ReadonlySet<number> | undefined;
  /** Says which destinations the client may use; `undefined`: all. */
  readonly admission: { readonly allowsModel: (destination: Destination) => boolean } | undefined;
}

/** A member of a pool, for users. */
interface MemberState {
  readonly destination: Destination;
  readonly weight: number;
  /** Why it is passed over now; `undefined`: it may be chosen. */
  readonly passed: string | undefined;
}

/** The pools of a configuration, compiled. Only `taken` changes anything. */
export interface Pools {
  /** Resolves a pool to one of its members; any other resolution is unchanged. */
  readonly choose: (resolution: Resolution, question: PoolQuestion) => Resolution;
  /** The members of a pool that may be chosen, the preferred one first. */
  readonly ranked: (pool: Pool, scenario: string, question: PoolQuestion) => readonly Destination[];
  readonly states: (pool: Pool, scenario: string, question: PoolQuestion) => readonly MemberState[];
  /** Called when a request goes to the chosen member: advances the turn. */
  readonly taken: (pool: Pool) => void;
}

interface PoolServices {
  readonly health: UpstreamHealth;
  readonly planFor: (key: PlanKey) => Plan;
}

interface Member extends Candidate {
  readonly destination: Destination;
  readonly serves: (asked: string) => boolean;
}

interface CompiledPool {
  readonly members: readonly Member[];
  /** In [0, 1). */
  turn: number;
}

/** Multiples of it, less their whole part, are spread evenly. Source: Knuth, The Art of Computer Programming, section 6.4. */
const goldenRatio = (Math.sqrt(5) - 1) / 2;

/** Compiles the pools of a configuration. */
export const compilePools = ({ pools, providers, breaker }: Config, { health, planFor }: PoolServices): Pools => {
  const compiled = new Map<string, CompiledPool>();
  for (const pool of pools) {
    compiled.set(pool.name, { members: membersOf(pool, providers, health), turn: health.random() });
  }

  const faultOf = (
    { destination: { provider, model } }: Member,
    { client, holding }: PoolQuestion,
  ): string | undefined => planFor({ client, provider, model, holding }).fault?.message;

  const restOf = ({ destination: { provider, model } }: Member): string | undefined => {
    const known = health.of(provider).model(model);
    const nowMs = health.nowMs();
    if (breakerState(known.breaker, nowMs, breaker) === 'open') return 'its breaker is open';
    return provider.apiKeys.every((key) => known.cooldownOf(key, nowMs)) ? 'all its keys are cooling down' : undefined;
  };

  /** Members for the model asked for; all where the client or a tag names the pool itself. */
  const serving = (pool: Pool, scenario: string, { progress: { requestedModel } }: PoolQuestion): readonly Member[] => {
    const { members } = compiled.get(pool.name) ?? none;
    const isNamed = scenario === 'explicit' || scenario === 'tag' || requestedModel === undefined;
    return isNamed ? members : members.filter(({ serves }) => serves(requestedModel));
  };

  const isAllowed = ({ destination }: Member, { admission }: PoolQuestion): boolean =>
    admission?.allowsModel(destination) ?? true;

  const usable = (pool: Pool, scenario: string, question: PoolQuestion): readonly Member[] =>
    serving(pool, scenario, question).filter(
      (member) =>
        isAllowed(member, question) && faultOf(member, question) === undefined && restOf(member) === undefined,
    );

  const pick = (pool: Pool, [first, ...others]: readonly Member[], request: ModelRequest): Chosen<Member> | undefined =>
    first &&
    chooseBy(pool.strategy, [first, ...others], {
      request,
      nowMs: health.nowMs(),
      turn: compiled.get(pool.name)?.turn ?? 0,
      random: health.random,
    });

  /** Without a usable member: the one with the most useful failure, cooling down before unusable or forbidden. */
  const lastResort = (pool: Pool, scenario: string, question: PoolQuestion): readonly Member[] => {
    const all = serving(pool, scenario, question);
    const allowed = all.filter((member) => isAllowed(member, question));
    const sound = allowed.filter((member) => faultOf(member, question) === undefined);
    return [sound, allowed].find((list) => list.length > 0) ?? all;
  };

  return {
    choose(resolution, question) {
      const { pool, scenario, reason, request } = resolution;
      if (!pool) return resolution;
      const candidates = usable(pool, scenario, question);
      const isUsable = candidates.length > 0;
      const chosen = pick(pool, isUsable ? candidates : lastResort(pool, scenario, question), request);
      if (!chosen) return resolution;
      const { provider, model } = chosen.member.destination;
      const why = isUsable ? chosen.why : 'no member can be used now';
      return {
        ...resolution,
        provider,
        model,
        reason: `${reason}; pool ${pool.name}, ${pool.strategy}: ${chosen.member.name}, ${why}`,
        request: model === request.model ? request : { ...request, model },
      };
    },
    ranked(pool, scenario, question) {
      let left = usable(pool, scenario, question);
      const ranked: Destination[] = [];
      for (let next = pick(pool, left, question.request); next; next = pick(pool, left, question.request)) {
        const { member } = next;
        ranked.push(member.destination);
        left = left.filter((other) => other !== member);
      }
      return ranked;
    },
    states(pool, scenario, question) {
      const eligible = serving(pool, scenario, question);
      return (compiled.get(pool.name) ?? none).members.map((member) => ({
        destination: member.destination,
        weight: member.weight,
        passed: eligible.includes(member) ? (faultOf(member, question) ?? restOf(member)) : 'it serves other models',
      }));
    },
    taken(pool) {
      const known = compiled.get(pool.name);
      if (known) known.turn = (known.turn + goldenRatio) % 1;
    },
  };
};

const none: { readonly members: readonly Member[] } = { members: [] };

const membersOf = (pool: Pool, providers: Config['providers'], health: UpstreamHealth): readonly Member[] =>
  pool.members.flatMap(({ provider: providerName, model, weight, serves }) => {
    const provider = findProvider(providers, providerName);
    if (!provider) return [];
    const name = `${provider.name},${model}`;
    const destination = { provider, model, pool };
    return [
      {
        name,
        weight,
        serves,
        destination,
        seed: textHash(name),
        get load() {
          return loadOf(health, destination);
        },
      },
    ];
  });

/** Looked up for each choice, since a model's record may be evicted and created again. */
const loadOf = (health: UpstreamHealth, { provider, model }: Destination): Load =>
  health.of(provider).model(model).load;
