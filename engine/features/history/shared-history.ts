import type { NodeAnswers, OtherNodes, OtherProcesses } from '../../feature.ts';
import { parseJson } from '../../model/json/json.ts';
import { type Reader, reader } from '../../model/schema.ts';
import { BoundedMap } from '../../runtime/memoize.ts';
import { maxSummaries } from '../record/pending-lines.ts';
import { type AnsweredNodes, CaptureState, type RequestSummary } from '../record/schema.ts';
import { activityOf, ownActivity } from './activity.ts';
import { captureText } from './captures.ts';
import { type ClearScope, type History, numberAt } from './history.ts';
import {
  ActivityAnswer,
  type HistoryQuestion,
  type HistoryReading,
  RequestAnswer,
  RequestsAnswer,
} from './questions.ts';
import { type Cursors, RecentAnswers } from './recent-answers.ts';

/** All data of one request. */
interface FoundRequest {
  /** JSON text of its capture. */
  readonly capture: string | undefined;
  readonly summary: RequestSummary | undefined;
  readonly running: boolean;
}

/** The recent model requests of all processes and nodes. They are asked when the history is read; nothing is collected. */
export interface SharedHistory {
  /** Up to `limit` ended requests with a number above `after`, newest first; only those of a client if one is named. */
  readonly list: (
    after: number,
    limit: number,
    client?: string,
  ) => Promise<RequestsAnswer & { readonly machines?: AnsweredNodes }>;
  /**
   * Returns a poll function: all finished requests at its first call, then those finished since the last one. Machines whose clocks
   * differ, or that don't answer at times, miss none. Other nodes are asked once a second at most.
   */
  readonly follow: () => () => Promise<RequestsAnswer & { readonly machines?: AnsweredNodes }>;
  /** The request with this id, whichever process or node has it. */
  readonly find: (id: string) => Promise<FoundRequest>;
  /** Current activity, and the traffic of the last minutes. `maxAgeMs`: maximum age of other nodes' answers. */
  readonly activity: (
    minutes: number,
    maxAgeMs?: number,
  ) => Promise<ReturnType<typeof activityOf> & { readonly machines?: AnsweredNodes }>;
  /** The state of capturing on this node; `on` switches it. */
  readonly capture: (on?: boolean) => Promise<CaptureState>;
  /** Removes all ended requests and captures of this node. */
  readonly clear: (scope: ClearScope) => Promise<void>;
}

/** Answers another process's question; `undefined`: there is nothing to say. */
export const answerHistory = async (history: History, question: HistoryQuestion): Promise<string | undefined> => {
  switch (question.kind) {
    case 'requests':
      return JSON.stringify(ownList(history, question));
    case 'request': {
      const found = await ownRequest(history, question.id);
      return found.running || found.summary || found.capture ? JSON.stringify(found) : undefined;
    }
    case 'activity':
      return JSON.stringify(ownActivity(history, Date.now(), question.minutes));
    case 'capture':
      return JSON.stringify(ownCapture(history, question.on));
    case 'clear':
      await history.clear(question.everything === true ? 'everything' : 'memory');
      return undefined;
    default:
      return question satisfies never;
  }
};

const answers = {
  requests: reader(RequestsAnswer),
  request: reader(RequestAnswer),
  activity: reader(ActivityAnswer),
  capture: reader(CaptureState),
};

/** The history of all processes and nodes; without others, this one's. `switched` is told of each switch of capturing. */
export const shareHistory = (
  own: History,
  processes: OtherProcesses<HistoryQuestion> | undefined,
  nodes: OtherNodes<HistoryReading> | undefined,
  switched: (on: boolean) => void,
  nowMs?: () => number,
): SharedHistory => {
  const recent = nodes && new RecentAnswers(nodes, nowMs);
  const isShared = (): boolean => (processes?.isShared() || nodes?.isShared()) ?? false;
  const ask = async <T>(question: HistoryQuestion, form: Reader<T>): Promise<readonly T[]> => {
    if (!processes?.isShared()) return [];
    return (await processes.ask(question)).map((text) => parseJson(text)).filter((answer) => form.matches(answer));
  };
  /** The answers of the other processes, and of the other nodes with their names. */
  const askAll = async <T>(question: HistoryReading, form: Reader<T>, maxAgeMs = 0) => {
    const [fromProcesses, fromNodes] = await Promise.all([
      ask(question, form),
      nodes?.isShared() ? recent?.ask(question, maxAgeMs) : undefined,
    ]);
    return {
      fromProcesses,
      fromNodes: fromNodes ? readAnswers(fromNodes, form) : [],
      ...(fromNodes && { machines: fromNodes.heard }),
    };
  };
  return {
    async list(after, limit, client) {
      // Requests that end from now on are in the next answer: the others answer a little earlier or later.
      const until = isShared() ? numberAt(Date.now()) : Number.MAX_SAFE_INTEGER;
      const question = { kind: 'requests', after, until, limit, ...(client !== undefined && { client }) } as const;
      const { fromProcesses, fromNodes, ...heard } = await askAll(question, answers.requests);
      const parts = [...fromProcesses, ...fromNodes.map(withNode), ownList(own, question)];
      const newest = Math.max(...parts.map((part) => part.newest));
      // Without an answer of the one that had the newest, the number would go back.
      return { newest: isShared() ? Math.max(after, newest) : newest, requests: newestOf(parts, limit), ...heard };
    },
    follow() {
      let after = 0;
      let cursors: Cursors = new Map();
      let taken: NodeAnswers | undefined;
      return async () => {
        const until = isShared() ? numberAt(Date.now()) : Number.MAX_SAFE_INTEGER;
        const question = { kind: 'requests', after, until, limit: maxSummaries } as const;
        // Each node has numbers of its own, up to its own time.
        const ofNodes = { ...question, after: 0, until: Number.MAX_SAFE_INTEGER };
        const [fromProcesses, fromNodes] = await Promise.all([
          ask(question, answers.requests),
          nodes?.isShared() ? recent?.ask(ofNodes, followMs, cursors) : undefined,
        ]);
        const heard = fromNodes && fromNodes !== taken ? readAnswers(fromNodes, answers.requests) : [];
        taken = fromNodes;
        const fresh = heard.map((one) => {
          const { newest, requests } = withNode(one);
          return { newest, requests: requests.filter(({ n }) => n > (cursors.get(one.id) ?? 0)) };
        });
        cursors = movedBy(cursors, heard);
        const here = [...fromProcesses, ownList(own, question)];
        after = Math.max(after, ...here.map(({ newest }) => newest));
        return {
          newest: after,
          requests: newestOf([...here, ...fresh], maxSummaries),
          ...(fromNodes && { machines: fromNodes.heard }),
        };
      };
    },
    async find(id) {
      const here = await ownRequest(own, id);
      const asked = here.capture === undefined ? await askAll({ kind: 'request', id }, answers.request) : undefined;
      const ofNodes = (asked?.fromNodes ?? []).map(({ machine, answer }) => ({
        ...answer,
        summary: answer.summary && { ...answer.summary, machine },
      }));
      const all = [here, ...(asked?.fromProcesses ?? []), ...ofNodes];
      const compressed = all.find(({ capture }) => capture !== undefined)?.capture;
      return {
        capture: compressed === undefined ? undefined : await captureText(Buffer.from(compressed, 'base64')),
        summary: all.find(({ summary }) => summary !== undefined)?.summary,
        running: all.some(({ running }) => running),
      };
    },
    async activity(minutes, maxAgeMs) {
      const { fromProcesses, fromNodes, ...heard } = await askAll(
        { kind: 'activity', minutes },
        answers.activity,
        maxAgeMs,
      );
      const nowMs = Date.now();
      const parts = [ownActivity(own, nowMs, minutes), ...fromProcesses, ...fromNodes.map(({ answer }) => answer)];
      return { ...activityOf(parts, nowMs, minutes), ...heard };
    },
    async capture(on) {
      const here = ownCapture(own, on);
      if (on !== undefined) switched(on);
      const others = await ask({ kind: 'capture', ...(on !== undefined && { on }) }, answers.capture);
      const all = [here, ...others];
      const sum = (of: (state: CaptureState) => number): number => all.reduce((total, state) => total + of(state), 0);
      return {
        ...here,
        kept: sum(({ kept }) => kept),
        bytes: sum(({ bytes }) => bytes),
        most: sum(({ most }) => most),
      };
    },
    async clear(scope) {
      await own.clear(scope);
      await ask({ kind: 'clear', everything: scope === 'everything' }, answers.capture);
    },
  };
};

/** Interval between questions to other nodes for a reader that follows, in milliseconds. */
export const followMs = 1_000;

interface NodeAnswer<T> {
  readonly id: string;
  readonly machine: string;
  readonly answer: T;
}

const readAnswers = <T>({ answers: texts }: NodeAnswers, form: Reader<T>): readonly NodeAnswer<T>[] =>
  texts.flatMap(({ id, machine, text }) => {
    const answer = parseJson(text);
    return form.matches(answer) ? [{ id, machine, answer }] : [];
  });

/** Maximum cursors; nodes beyond it are sent everything again. */
const maxCursors = 200;

const movedBy = (cursors: Cursors, heard: readonly NodeAnswer<RequestsAnswer>[]): Cursors => {
  const next = new BoundedMap<string, number>(maxCursors);
  for (const [id, n] of cursors) next.set(id, n);
  for (const { id, answer } of heard) next.set(id, Math.max(next.get(id) ?? 0, answer.newest));
  return next;
};

const withNode = ({ machine, answer: { newest, requests } }: NodeAnswer<RequestsAnswer>): RequestsAnswer => ({
  newest,
  requests: requests.map((summary) => ({ ...summary, machine })),
});

const newestOf = (parts: readonly RequestsAnswer[], limit: number): RequestsAnswer['requests'] =>
  parts
    .flatMap(({ requests }) => requests)
    .toSorted((one, other) => other.n - one.n)
    .slice(0, limit);

const ownList = (
  history: History,
  { after, until, limit, client }: Extract<HistoryQuestion, { kind: 'requests' }>,
): RequestsAnswer => {
  const requests = history.list(after, limit, client).filter(({ n }) => n <= until);
  const newest = history.newest();
  return { newest: newest <= until ? newest : (requests[0]?.n ?? after), requests };
};

const ownRequest = async (history: History, id: string): Promise<RequestAnswer> => {
  const compressed = await history.captures.findCompressed(id);
  const summary = history.find(id);
  const running = history.inFlight().some((record) => record.id === id);
  return { ...(compressed && { capture: compressed.toString('base64') }), ...(summary && { summary }), running };
};

/** Whether the other processes capture requests; `undefined`: none answers. */
export const captureOfOthers = async ({ ask }: OtherProcesses<HistoryQuestion>): Promise<boolean | undefined> => {
  const states = (await ask({ kind: 'capture' })).map((text) => parseJson(text));
  return states.find((state) => answers.capture.matches(state))?.on;
};

const ownCapture = ({ captures }: History, on: boolean | undefined): CaptureState => {
  if (on !== undefined) captures.on = on;
  return captures.state();
};
