import type { Pool } from '../config/config.ts';
import type { PoolStrategy } from '../config/schema.ts';
import type { ModelRequest } from '../model/request.ts';
import { conversationHash } from '../upstream/health/choose-key.ts';
import type { Load } from '../upstream/health/load.ts';

/** A member that may be chosen. */
export interface Candidate {
  /** `provider,model`. */
  readonly name: string;
  readonly weight: number;
  /** A hash of the name. */
  readonly seed: number;
  readonly load: Load;
}

/** Inputs of the choice besides the members. */
interface ChoiceSituation {
  readonly request: ModelRequest;
  readonly nowMs: number;
  /** Evenly spread over [0, 1) from choice to choice. */
  readonly turn: number;
  /** A random number in [0, 1). */
  readonly random: () => number;
}

/** The chosen member, and why, for users. */
export interface Chosen<C extends Candidate> {
  readonly member: C;
  readonly why: string;
}

/** Chooses one of several candidates; there is at least one. */
export const chooseBy = <C extends Candidate>(
  strategy: Pool['strategy'],
  candidates: readonly [C, ...C[]],
  situation: ChoiceSituation,
): Chosen<C> => {
  const [first, ...others] = candidates;
  if (others.length === 0) return { member: first, why: 'the only member that can be used' };
  return strategies[strategy](candidates, situation);
};

type Strategy = <C extends Candidate>(candidates: readonly [C, ...C[]], situation: ChoiceSituation) => Chosen<C>;

const weighted: Strategy = (candidates, { turn }) => {
  const total = candidates.reduce((sum, { weight }) => sum + weight, 0);
  let left = turn * total;
  const found = candidates.find(({ weight }) => {
    left -= weight;
    return left < 0;
  });
  const [first] = candidates;
  const member = found ?? first;
  return { member, why: `its turn by weight, ${member.weight} of ${total}` };
};

/** Power of two choices: the better of two at random, so that not every request goes to the one that is best at the moment. */
const fastest: Strategy = (candidates, { nowMs, random }) => {
  const [first] = candidates;
  const at = Math.floor(random() * candidates.length);
  const step = 1 + Math.floor(random() * (candidates.length - 1));
  const one = candidates[at] ?? first;
  const other = candidates[(at + step) % candidates.length] ?? first;
  const [oneMs, otherMs] = [one.load.expectedMs(nowMs), other.load.expectedMs(nowMs)];
  return otherMs < oneMs
    ? { member: other, why: faster(otherMs, one.name, oneMs) }
    : { member: one, why: faster(oneMs, other.name, otherMs) };
};

const faster = (ms: number, other: string, otherMs: number): string =>
  `its answers begin after ${inMs(ms)}, those of ${other} after ${inMs(otherMs)}`;

const inMs = (ms: number): string => (ms > 0 && Number.isFinite(ms) ? `${Math.round(ms)} ms` : 'an unknown time');

const leastBusy: Strategy = (candidates, { turn }) => {
  const [first] = candidates;
  const fewest = candidates.reduce((least, { load }) => Math.min(least, load.live), first.load.live);
  const equal = candidates.filter(({ load }) => load.live === fewest);
  const member = equal[Math.floor(turn * equal.length)] ?? first;
  return { member, why: `${fewest} in flight, no other has fewer` };
};

/** Weighted rendezvous hashing: a conversation moves only if its own member is removed. */
const sticky: Strategy = (candidates, { request }) => {
  const key = scatter(conversationHash(request));
  const [first] = candidates;
  let member = first;
  let best = Number.NEGATIVE_INFINITY;
  for (const candidate of candidates) {
    const unit = (scatter(key ^ candidate.seed) + 0.5) / 2 ** 32;
    const score = -candidate.weight / Math.log(unit);
    if (score <= best) continue;
    best = score;
    member = candidate;
  }
  return { member, why: "the conversation's own" };
};

const strategies: Readonly<Record<PoolStrategy, Strategy>> = { weighted, fastest, 'least-busy': leastBusy, sticky };

/** Spreads similar numbers over 32 bits. Source: MurmurHash3, `fmix32`. */
const scatter = (hash: number): number => {
  let mixed = hash;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
};
