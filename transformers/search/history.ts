import type { ModelRequest, Part, StageContext, Turn } from 'junctor/transformer';
import { contentFields, resultPart } from './forms.ts';
import { isObject, listIn, textIn } from './json.ts';
import { type Outcome, packOutcome, type Search, unpackOutcome } from './outcome.ts';

type Parts = readonly Part[];

/** Time for which searches are remembered for clients that don't send back the results, in milliseconds. */
const rememberedMs = 6 * 3_600_000;

/** The owner of the memory: one client's results are no other's. */
type Rememberer = Pick<StageContext, 'memory' | 'client'>;

const nameFor = ({ key = '' }: StageContext['client'], name: string): string => `${key} ${name}`;

/** Remembers searches under a name. A memory that is full forgets them at once: the model is told so later. */
export const remember = ({ memory, client }: Rememberer, name: string, searches: readonly Search[]): void => {
  const kept = searches.map(({ id, query, outcome }) => ({ id, query, outcome: packOutcome(outcome) }));
  try {
    memory.set(nameFor(client, name), kept, { ms: rememberedMs });
  } catch {
    // It tells the model that the results are gone.
  }
};

const recall = async ({ memory, client }: Rememberer, name: string): Promise<readonly Search[]> =>
  listIn(await memory.get(nameFor(client, name))).flatMap((kept) => {
    if (!isObject(kept)) return [];
    const outcome = unpackOutcome(kept.outcome);
    return outcome ? [{ id: textIn(kept.id), query: textIn(kept.query), outcome }] : [];
  });

/** The name under which a search is remembered that a client names by its item. */
export const nameOfItem = (id: string): string => `search ${id}`;

/** The name for searches made beside calls of the client, by the first of these. */
export const nameBeside = (callId: string): string => `beside ${callId}`;

/** Later turns with calls than these are looked up: each costs a question to the memory. */
const maxLookedUp = 32;

/**
 * The conversation with its earlier searches as calls of the function `name` and their results: a model without a search of its own reads
 * those alone.
 */
export const withEarlierSearches = async (
  { turns }: Pick<ModelRequest, 'turns'>,
  name: string,
  by: Rememberer,
): Promise<readonly Turn[]> => {
  const calling = turns.flatMap(({ parts, role }, index) =>
    role === 'assistant' && parts.some(({ type }) => type === 'tool-call') ? [index] : [],
  );
  const lookedUp = new Set(calling.slice(-maxLookedUp));
  const read = await Promise.all(
    turns.map(async ({ role, parts }, index) =>
      role === 'assistant' ? await searchesIn(parts, by, lookedUp.has(index)) : parts,
    ),
  );
  if (read.every((parts, index) => parts === turns[index]?.parts)) return turns;
  const rewritten: Turn[] = [];
  /** Results of searches beside the client's calls: they stand with the results of those. */
  let beside: Part[] = [];
  for (const [index, turn] of turns.entries()) {
    const parts = read[index] ?? turn.parts;
    if (turn.role === 'assistant') {
      const rounds = roundsOf(parts, name);
      const last = rounds.at(-1);
      if (beside.length > 0) rewritten.push({ role: 'user', parts: beside });
      beside = [];
      for (const [number, round] of rounds.entries()) {
        rewritten.push(number === 0 ? { ...turn, parts: round.parts } : { role: 'assistant', parts: round.parts });
        if (round !== last || !hasClientCall(round.parts, name)) {
          if (round.results.length > 0) rewritten.push({ role: 'user', parts: round.results });
        } else beside = [...round.results];
      }
    } else if (turn.role === 'user' && beside.length > 0) {
      rewritten.push({ ...turn, parts: [...beside, ...turn.parts] });
      beside = [];
    } else rewritten.push(turn);
  }
  if (beside.length > 0) rewritten.push({ role: 'user', parts: beside });
  return rewritten;
};

/** A search that a client has sent back, in the place of the part that holds it: its call, its result or both. */
interface Returned {
  readonly type: 'returned';
  readonly at: string | undefined;
  readonly call?: Pick<Search, 'id' | 'query'>;
  readonly result?: Omit<Search, 'query'>;
}

/** The parts with the searches among them read; the same list if there are none. */
const searchesIn = async (parts: Parts, by: Rememberer, looksUp: boolean): Promise<readonly (Part | Returned)[]> => {
  if (!parts.some(({ type }) => type === 'opaque') && !looksUp) return parts;
  const read: (Part | Returned)[] = [];
  let isRead = false;
  for (const part of parts) {
    const returned = await returnedIn(part, by);
    if (returned) isRead = true;
    read.push(returned ?? part);
  }
  const call = looksUp && !isRead ? parts.find(({ type }) => type === 'tool-call') : undefined;
  const kept = call?.type === 'tool-call' ? await recall(by, nameBeside(call.id)) : [];
  if (kept.length > 0) isRead = true;
  for (const { id, query, outcome } of kept) {
    read.push({ type: 'returned', at: undefined, call: { id, query }, result: { id, outcome } });
  }
  return isRead ? read : parts;
};

const returnedIn = async (part: Part, by: Rememberer): Promise<Returned | undefined> => {
  if (part.type !== 'opaque') return undefined;
  const { raw, at } = part;
  switch (raw.type) {
    case 'server_tool_use':
      if (raw.name !== 'web_search') return undefined;
      return {
        type: 'returned',
        at,
        call: { id: textIn(raw.id), query: isObject(raw.input) ? textIn(raw.input.query) : '' },
      };
    case 'web_search_tool_result':
      return {
        type: 'returned',
        at,
        result: { id: textIn(raw.tool_use_id), outcome: unpackOutcome(contentFields(raw.content)) ?? gone([]) },
      };
    case 'web_search_call': {
      const { query, queries, sources } = isObject(raw.action) ? raw.action : {};
      const asked = textIn(query) || textIn(listIn(queries)[0]);
      if (asked === '') return undefined;
      const id = textIn(raw.id);
      const [known] = id === '' ? [] : await recall(by, nameOfItem(id));
      return {
        type: 'returned',
        at,
        call: { id, query: asked },
        result: { id, outcome: known?.outcome ?? gone(listIn(sources)) },
      };
    }
    default:
      return undefined;
  }
};

/** A search whose results nobody has any more, but maybe their addresses. */
const gone = (sources: readonly unknown[]): Outcome => {
  const known = unpackOutcome({ pages: sources });
  return {
    kind: 'found',
    pages: known?.kind === 'found' ? known.pages : [],
    summary: 'The excerpts are no longer at hand. What mattered of them is in your answer.',
  };
};

/** One answer of the model, with the results that follow it. */
interface Round {
  readonly parts: Part[];
  readonly results: Part[];
}

/** The rounds of an assistant's turn: each ends with the results of its searches. */
const roundsOf = (parts: readonly (Part | Returned)[], name: string): readonly Round[] => {
  const rounds: Round[] = [];
  let round: Round = { parts: [], results: [] };
  const open = new Map<string, Pick<Search, 'id' | 'query'>>();
  const end = (): void => {
    for (const search of open.values()) round.results.push(resultPart({ ...search, outcome: unfinished }));
    open.clear();
    if (round.parts.length > 0) rounds.push(round);
    round = { parts: [], results: [] };
  };
  for (const [index, part] of parts.entries()) {
    if (part.type !== 'returned') {
      if (round.results.length > 0) end();
      round.parts.push(part);
      continue;
    }
    const { at } = part;
    if (part.call) {
      // The client's calls end an answer, so a search after one belongs to the same.
      if (round.results.length > 0 && !hasClientCall(round.parts, name)) end();
      const id = part.call.id || `search_${(at ?? String(index)).replace(/\W+/g, '_')}`;
      open.set(part.call.id, { ...part.call, id });
      round.parts.push({
        type: 'tool-call',
        id,
        name,
        input: { query: part.call.query },
        ...(at !== undefined && { at }),
      });
    }
    const search = part.result && open.get(part.result.id);
    if (!part.result || !search) continue;
    open.delete(part.result.id);
    round.results.push(resultPart({ ...search, outcome: part.result.outcome }, at));
  }
  end();
  return rounds;
};

const hasClientCall = (parts: Parts, name: string): boolean =>
  parts.some((part) => part.type === 'tool-call' && part.name !== name);

const unfinished: Outcome = { kind: 'failed', code: 'unavailable' };
