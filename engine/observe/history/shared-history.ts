import { parseJson } from '../../model/json/json.ts';
import { type Reader, reader } from '../../model/schema.ts';
import { activityOf, ownActivity } from './activity.ts';
import { captureText } from './captures.ts';
import { type History, numberAt } from './history.ts';
import {
  ActivityAnswer,
  type HistoryQuestion,
  type HistoryReading,
  RequestAnswer,
  RequestsAnswer,
} from './questions.ts';
import { CaptureState, type MachinesHeard, type RequestSummary } from './schema.ts';

/** The other processes of the service. */
interface HistoryPeers {
  /** Whether there are or were any. */
  readonly isShared: () => boolean;
  /** The answers that came in time. */
  readonly ask: (question: HistoryQuestion) => Promise<readonly string[]>;
}

/** The other machines of the fleet. They are read, never changed. */
interface HistoryMachines {
  /** Whether there are any. */
  readonly isShared: () => boolean;
  readonly ask: (question: HistoryReading) => Promise<{
    readonly heard: MachinesHeard;
    readonly answers: readonly { readonly machine: string; readonly text: string }[];
  }>;
}

/** What is known of one request. */
interface FoundRequest {
  /** JSON text of its capture. */
  readonly capture: string | undefined;
  readonly summary: RequestSummary | undefined;
  readonly running: boolean;
}

/** The recent model requests of all processes and machines. They are asked when the history is read; nothing is collected. */
export interface SharedHistory {
  /** Up to `limit` ended requests with a number above `after`, newest first; only those of a client if one is named. */
  readonly list: (
    after: number,
    limit: number,
    client?: string,
  ) => Promise<RequestsAnswer & { readonly machines?: MachinesHeard }>;
  /** The request with this id, whichever process or machine has it. */
  readonly find: (id: string) => Promise<FoundRequest>;
  /** What goes on, and the traffic of the last minutes. */
  readonly activity: (
    minutes: number,
  ) => Promise<ReturnType<typeof activityOf> & { readonly machines?: MachinesHeard }>;
  /** The state of capturing on this machine; `on` switches it. */
  readonly capture: (on?: boolean) => Promise<CaptureState>;
  /** Removes all ended requests and captures of this machine. */
  readonly clear: () => Promise<void>;
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
      await history.clear();
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

/** The history of all processes and machines; without others, this one's. `switched` is told of each switch of capturing. */
export const shareHistory = (
  own: History,
  peers: HistoryPeers | undefined,
  machines: HistoryMachines | undefined,
  switched: (on: boolean) => void,
): SharedHistory => {
  const isShared = (): boolean => (peers?.isShared() || machines?.isShared()) ?? false;
  const ask = async <T>(question: HistoryQuestion, form: Reader<T>): Promise<readonly T[]> => {
    if (!peers?.isShared()) return [];
    return (await peers.ask(question)).map((text) => parseJson(text)).filter((answer) => form.matches(answer));
  };
  /** The answers of the other processes, and of the other machines with their names. */
  const askAll = async <T>(question: HistoryReading, form: Reader<T>) => {
    const [near, far] = await Promise.all([
      ask(question, form),
      machines?.isShared() ? machines.ask(question) : undefined,
    ]);
    const named = (far?.answers ?? []).flatMap(({ machine, text }): readonly { machine: string; answer: T }[] => {
      const answer = parseJson(text);
      return form.matches(answer) ? [{ machine, answer }] : [];
    });
    return { near, far: named, ...(far && { machines: far.heard }) };
  };
  return {
    async list(after, limit, client) {
      // What ends from now on comes with the next look: the others answer a little earlier or later.
      const until = isShared() ? numberAt(Date.now()) : Number.MAX_SAFE_INTEGER;
      const question = { kind: 'requests', after, until, limit, ...(client !== undefined && { client }) } as const;
      const { near, far, ...heard } = await askAll(question, answers.requests);
      const elsewhere = far.map(({ machine, answer: { newest, requests } }) => ({
        newest,
        requests: requests.map((summary) => ({ ...summary, machine })),
      }));
      const parts = [...near, ...elsewhere, ownList(own, question)];
      const requests = parts.flatMap((part) => part.requests);
      return {
        newest: Math.max(...parts.map(({ newest }) => newest)),
        requests: requests.toSorted((one, other) => other.n - one.n).slice(0, limit),
        ...heard,
      };
    },
    async find(id) {
      const here = await ownRequest(own, id);
      const asked = here.capture === undefined ? await askAll({ kind: 'request', id }, answers.request) : undefined;
      const elsewhere = (asked?.far ?? []).map(({ machine, answer }) => ({
        ...answer,
        summary: answer.summary && { ...answer.summary, machine },
      }));
      const all = [here, ...(asked?.near ?? []), ...elsewhere];
      const compressed = all.find(({ capture }) => capture !== undefined)?.capture;
      return {
        capture: compressed === undefined ? undefined : await captureText(Buffer.from(compressed, 'base64')),
        summary: all.find(({ summary }) => summary !== undefined)?.summary,
        running: all.some(({ running }) => running),
      };
    },
    async activity(minutes) {
      const { near, far, ...heard } = await askAll({ kind: 'activity', minutes }, answers.activity);
      const nowMs = Date.now();
      const parts = [ownActivity(own, nowMs, minutes), ...near, ...far.map(({ answer }) => answer)];
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
    async clear() {
      await own.clear();
      await ask({ kind: 'clear' }, answers.capture);
    },
  };
};

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
  const running = history.inFlight().some(({ start }) => start.id === id);
  return { ...(compressed && { capture: compressed.toString('base64') }), ...(summary && { summary }), running };
};

const ownCapture = ({ captures }: History, on: boolean | undefined): CaptureState => {
  if (on !== undefined) captures.on = on;
  return captures.state();
};
