import { setTimeout as wait } from 'node:timers/promises';
import { type FaultClient, faultClients } from '../support/faults/clients.ts';
import { rawPost } from '../support/faults/raw-client.ts';
import { modelOf, type WireName, wireNames, wires } from '../support/faults/wires.ts';
import { type Reaction, type ScriptedUpstream, sseAnswer, startUpstream } from '../support/upstreams/upstream.ts';

/** What the load has done so far. */
interface Tallies {
  /** Streams that came whole, with the text that the upstream sent. */
  whole: number;
  /** Faults that each came to one error. */
  faulted: number;
  /** Streams whose client left. */
  left: number;
  /** What went otherwise than it should; the first hundred. */
  readonly wrong: string[];
  wrongs: number;
}

/** A load of streams from faulty upstreams, some of which their clients leave. */
interface Load {
  readonly tallies: Readonly<Tallies>;
  /** Lets the streams at work end. */
  readonly end: () => Promise<void>;
  /** Goes on after an end. */
  readonly resume: () => void;
}

const faults = ['status', 'reset', 'cut', 'early', 'error', 'nonsense', 'page'] as const;
type Fault = (typeof faults)[number];
type Kind = Fault | 'good' | 'leave';

/** How many words a stream has, and the pause between two of them. */
const words = 40;
const pauseMs = 50;

const textsOf = (id: number): string[] => Array.from({ length: words }, (_, index) => `${id}-grüße-${index} `);

/** A stream at the pace of a model, up to `until` records. */
const paced = async function* (records: readonly string[], until = records.length): AsyncIterable<string | number> {
  for (const record of records.slice(0, until)) {
    yield record;
    yield pauseMs;
  }
};

const react = (wire: WireName, model: string): Reaction => {
  const [kind = '', id = '0'] = model.split('-');
  const { stream, errorRecord, error } = wires[wire];
  const records = stream(textsOf(Number(id)));
  const half = records.length >> 1;
  const amid = (last: string): Reaction => sseAnswer(concat(paced(records, half), last));
  switch (kind) {
    case 'status':
      return {
        status: 500,
        headers: { 'content-type': 'application/json' },
        pieces: [JSON.stringify(error('trouble', 500))],
      };
    case 'reset':
      return 'reset';
    case 'page':
      return { headers: { 'content-type': 'text/html' }, pieces: ['<html>Welcome</html>'] };
    case 'cut':
      return sseAnswer(paced(records, half), 'close');
    case 'early':
      return sseAnswer(paced(records, half), 'end');
    case 'error':
      return amid(errorRecord('trouble amid'));
    case 'nonsense':
      return amid('data: {"what\n\n');
    default:
      return sseAnswer(paced(records));
  }
};

const concat = async function* (first: AsyncIterable<string | number>, last: string): AsyncIterable<string | number> {
  yield* first;
  yield last;
};

/** One in ten is a fault, one in ten leaves. */
const kindOf = (id: number): Kind => {
  if (id % 10 === 3) return faults[Math.floor(id / 10) % faults.length] ?? 'status';
  return id % 10 === 7 ? 'leave' : 'good';
};

/** Starts the upstream that the load needs. */
export const startFaultyUpstreams = async (): Promise<Readonly<Record<WireName, ScriptedUpstream>>> => {
  const started = await Promise.all(
    wireNames.map(async (wire) => [wire, await startUpstream((asked) => react(wire, modelOf(asked)))] as const),
  );
  const of = (name: WireName): ScriptedUpstream => {
    const found = started.find(([wire]) => wire === name);
    if (!found) throw new Error(name);
    return found[1];
  };
  return { messages: of('messages'), chat: of('chat'), responses: of('responses'), gemini: of('gemini') };
};

/** Keeps so many streams at work until it is told to end. */
export const startLoad = (baseUrl: string, streams: number): Load => {
  const tallies: Tallies = { whole: 0, faulted: 0, left: 0, wrong: [], wrongs: 0 };
  let ending = false;
  let next = 0;
  const fail = (what: string): void => {
    tallies.wrongs += 1;
    if (tallies.wrong.length < 100) tallies.wrong.push(what);
  };
  const one = async (id: number): Promise<void> => {
    const kind = kindOf(id);
    const client = faultClients[id % faultClients.length];
    const wire = wireNames[Math.floor(id / 30) % wireNames.length];
    if (!client || !wire) return;
    const what = `${client.name} ← ${wire} ${kind}-${id}`;
    const body = { ...client.ask, model: `${wire},${kind}-${id}`, stream: true };
    if (kind === 'leave') {
      const gone = rawPost(baseUrl, client.path, body, 'nothing');
      // At any point of the answer, before its head included.
      await wait((id * 37) % (words * pauseMs));
      gone.leave();
      await gone.closed;
      tallies.left += 1;
      return;
    }
    const answer = await fetch(`${baseUrl}${client.path}`, { method: 'POST', body: JSON.stringify(body) });
    const text = await answer.text();
    const failureClass = judge(client, kind, id, answer.status, text);
    if (failureClass !== undefined) fail(`${what}: ${failureClass}: ${answer.status} ${text.slice(-300)}`);
    else if (kind === 'good') tallies.whole += 1;
    else tallies.faulted += 1;
  };
  const lane = async (_: unknown, index: number): Promise<void> => {
    await wait((index * words * pauseMs) / streams);
    while (!ending) {
      const id = next;
      next += 1;
      await one(id).catch((error: unknown) => fail(`${id}: ${String(error)}`));
    }
  };
  const start = () => Promise.all(Array.from({ length: streams }, lane));
  let all = start();
  return {
    tallies,
    async end(): Promise<void> {
      ending = true;
      await all;
    },
    resume(): void {
      ending = false;
      all = start();
    },
  };
};

/** What is wrong with an answer; nothing when it is as it should be. */
const judge = (client: FaultClient, kind: Kind, id: number, status: number, text: string): string | undefined => {
  const sent = textsOf(id).join('');
  if (status !== 200) return kind === 'good' ? 'a good stream failed' : undefined;
  const { text: got, ends, errors, after } = client.tally(text);
  if (after > 0) return 'something follows the end';
  if (kind === 'good') {
    if (got !== sent) return 'another text';
    return ends === 1 && errors.length === 0 ? undefined : 'no good end';
  }
  if (!sent.startsWith(got)) return 'another text';
  return ends === 0 && errors.length === 1 ? undefined : `${errors.length} errors, ${ends} ends`;
};
