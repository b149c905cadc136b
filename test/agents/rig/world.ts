import {
  jsonAnswer,
  type Reaction,
  sseAnswer,
  startUpstream,
  type UpstreamAnswer,
} from '../../support/upstreams/upstream.ts';
import type { Scripted } from '../../support/vendors/script.ts';
import { judge, judgeAnswer } from './judge.ts';
import type { Party } from './parties.ts';
import { searxng, searxngAnswer } from './searxng.ts';
import { loose, readSeen, type Seen } from './seen.ts';
import { seer, seerAnswer } from './seer.ts';

/** What a script has a vendor do. */
export type Act =
  | { readonly type: 'answer'; readonly scripted: Scripted }
  /** The prompt is too long. */
  | { readonly type: 'overflow' }
  /** The stream breaks in the middle of this answer. */
  | { readonly type: 'break'; readonly scripted: Scripted };

/** A run of an agent, as the vendors see it. */
interface Case {
  readonly party: Party;
  /** A word that all its requests hold, so that they are told from those of other runs. */
  readonly tag: string;
  readonly script: (seen: Seen, request: number) => Act;
}

/** What came of a case. */
interface CaseRecord {
  /** Without those that were refused for what they teach. */
  readonly requests: readonly Seen[];
  /** What the vendor refused once more, and what it misses; empty if all is well. */
  readonly complaints: readonly string[];
  /** What was refused so, one entry a request: the first refusal may teach. */
  readonly refused: readonly string[];
}

/** All vendors and hosts, behind one proxy on a loopback port. */
export interface World {
  readonly proxyUrl: string;
  /** Answers a case's requests by its script from now on. */
  readonly open: (one: Case) => CaseRecord;
  /** Requests that belong to no case, by host. */
  readonly strays: readonly string[];
  readonly close: () => Promise<void>;
}

interface Open extends Case {
  readonly requests: Seen[];
  readonly complaints: string[];
  readonly refused: string[];
}

/** The key that the gateway has for a party. */
export const keyOf = ({ name }: Party): string => `key-of-${name.replaceAll(/\W+/g, '-')}`;

/** Starts the world. The gateway sends plain HTTP to a proxy with the whole URL: the host says who is asked. */
export const startWorld = async (): Promise<World> => {
  const cases: Open[] = [];
  const strays: string[] = [];
  const upstream = await startUpstream(({ url, text, body, headers }) => {
    if (url.startsWith(judge.baseUrl)) return judgeAnswer(text);
    if (url.startsWith(searxng.baseUrl)) return searxngAnswer(url);
    if (url.startsWith(seer.baseUrl)) return seerAnswer(text);
    const one = cases.find(({ tag }) => text.includes(tag));
    if (!one) {
      strays.push(url);
      return jsonAnswer({ error: { message: `no case for ${url}` } }, 404);
    }
    const target = new URL(url);
    const { party, requests, complaints, refused } = one;
    if (target.host !== new URL(party.baseUrl).host) complaints.push(`a request went to ${target.host}`);
    const path = target.pathname + target.search;
    // A query that says no more than the path is ignored by all vendors.
    if (!party.paths.test(path) && !party.paths.test(target.pathname)) {
      complaints.push(`a request went to ${path}`);
      return failed(party, 404, `no such path: ${path}`);
    }
    if (!Object.values(headers).some((value) => String(value).includes(keyOf(party)))) complaints.push('no valid key');
    const seen = readSeen(party.wire, body);
    const refusal = party.teaches?.({ body: loose(body), headers });
    if (refusal) {
      refused.push(JSON.stringify(refusal.body));
      return jsonAnswer(refusal.body, refusal.status);
    }
    const [first, ...more] = party.refusals(body, path);
    if (first) {
      const words = [first, ...more].map((each) => `refused: ${each.words}`);
      if (refused.length > 0) complaints.push(...refused, ...words);
      refused.push(words.join('; '));
      return failed(party, first.status, first.words);
    }
    requests.push(seen);
    complaints.push(...misses(seen, party));
    return react(one.script(seen, requests.length), party, body, path);
  });
  return {
    proxyUrl: upstream.url,
    strays,
    open(one) {
      const opened = { ...one, requests: [], complaints: [], refused: [] };
      cases.push(opened);
      return opened;
    },
    close: upstream.close,
  };
};

/** What no vendor says a word about, and yet is wrong. */
const misses = ({ tools, texts, results }: Seen, { name, wire }: Party): readonly string[] => {
  const complaints: string[] = [];
  if (results.some((result) => result.trim() === '')) complaints.push('an empty tool result');
  if (name === 'anthropic') return complaints;
  if (texts.some((text) => text.includes('x-anthropic-'))) complaints.push("a line that is for the agent's own vendor");
  // Between two sides of one format, tools pass as they came.
  if (wire !== 'messages' && tools.some((tool) => tool.name === 'DeferredToolPlaceholder'))
    complaints.push('a placeholder as a tool');
  return complaints;
};

const failed = (party: Party, status: number, words: string): UpstreamAnswer => {
  const failure = party.failure(status, words);
  return jsonAnswer(failure.body, failure.status);
};

const react = (act: Act, party: Party, body: unknown, path: string): Reaction => {
  if (act.type === 'overflow') return failed(party, party.overflow.status, party.overflow.words);
  const answer = party.answer(act.scripted, body, path);
  const headers = { 'content-type': answer.type === 'json' ? 'application/json' : 'text/event-stream' };
  const pieces = answer.type === 'json' ? [answer.text] : answer.pieces;
  if (act.type === 'answer') return { headers, pieces };
  return { ...sseAnswer(pieces.slice(0, Math.ceil(pieces.length / 2))), finish: 'reset' };
};
