import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { writeAtomically } from '../../config/write-atomically.ts';
import type { Feature, OtherNodes, OtherProcesses } from '../../feature.ts';
import type { Logs } from '../../observe/log/logs.ts';
import type { CurrentGateway } from '../../routing/gateway.ts';
import { loadOnce } from '../../runtime/load-once.ts';
import type { ToldUse } from '../../store/client-use.ts';
import { type OpenStore, openStore as openThread, type StoreChannel, storeFile } from '../../store/store-thread.ts';
import { PendingLines } from '../record/pending-lines.ts';
import { flushLines, type HistoryWriter } from './flush-lines.ts';
import { createHistory, type HistoryOptions } from './history.ts';
import type { HistoryQuestion } from './questions.ts';
import { sessionNames } from './session-names.ts';
import type { SharedHistory } from './shared-history.ts';
import type { StoredRequests } from './stored-requests.ts';

interface HistoryFeatureOptions
  extends Pick<HistoryOptions, 'secrets' | 'variableOf' | 'baseUrl' | 'active' | 'onChanged'> {
  readonly home: string;
  readonly nowMs: () => number;
  readonly log: Logs['app'];
  readonly current: CurrentGateway;
  readonly sessionSecret: () => string;
  /** The service's other processes; absent: there are never any. */
  readonly processes: OtherProcesses | undefined;
  /** Other nodes; `undefined`: there are never any. */
  readonly nodes: () => OtherNodes | undefined;
  readonly writer: HistoryWriter;
  /** Called with what clients have used, after each batch of requests that was kept. */
  readonly onKept: (told: ToldUse) => void;
  /** Default: a thread. */
  readonly openStore?: OpenStore | undefined;
}

/** The history as a feature, for what reads it. */
interface HistoryFeature extends Feature {
  /** The requests of all processes and nodes. The code is loaded at the first call. */
  readonly requests: () => Promise<SharedHistory>;
  /** Answers another process's question; `undefined`: there is nothing to say. */
  readonly answer: (question: HistoryQuestion) => Promise<string | undefined>;
  /** Captures requests if the other processes do now: the switch may have been used while this process started. */
  readonly followOthers: () => Promise<void>;
  /** Persisted requests of all processes; `write` makes them flush ended ones. */
  readonly stored: (write: () => Promise<void>) => Promise<StoredRequests>;
  /** Hands over what this process hasn't yet; resolves when it is on disk. */
  readonly write: () => Promise<void>;
}

/** The model requests: those in flight, recent and kept ones, and their captures. */
export const openHistory = async (options: HistoryFeatureOptions): Promise<HistoryFeature> => {
  const { home, nowMs, log, current, processes, nodes, sessionSecret, writer, onKept, ...others } = options;
  const { openStore = openThread, ...shown } = others;
  const policy = () => current.gateway.config.history;
  const lines = new PendingLines();
  const files = await flushLines({ file: storeFile(home), lines, writer, bounds: policy, onKept, log });
  const own = createHistory({
    ...shown,
    numbersByTime: processes !== undefined,
    sessionOf: sessionNames(sessionSecret),
    policy,
    nowMs,
    lines,
    onCleared: files.clear,
  });
  const captureAll = keptSwitch(home, log);
  own.captures.on = captureAll.isOn;
  if (captureAll.isOn) log.warn('all requests are captured, with prompts and answers');
  const requests = loadOnce(async () => {
    const { shareHistory } = await import('./shared-history.ts');
    return shareHistory(own, processes, nodes(), captureAll.keep);
  });
  let reader: StoreChannel | undefined;
  return {
    requests,
    async stored(write) {
      const { StoredRequests: Stored } = await import('./stored-requests.ts');
      reader ??= openStore({ role: 'read', file: storeFile(home) }, log);
      return new Stored({ store: reader, days: () => policy().days, requests: await requests(), write, writer });
    },
    async answer(question) {
      const { answerHistory } = await import('./shared-history.ts');
      return answerHistory(own, question);
    },
    async followOthers() {
      const { captureOfOthers } = await import('./shared-history.ts');
      own.captures.on = (processes && (await captureOfOthers(processes))) ?? own.captures.on;
    },
    write: files.write,
    listener: own.listener,
    async close() {
      await Promise.all([files.close(), reader?.close()]);
    },
  };
};

/** Whether all requests are captured, which a file keeps for a restart. */
const keptSwitch = (home: string, log: Logs['app']) => {
  const file = join(home, 'capture-all');
  let kept: Promise<unknown> = Promise.resolve();
  return {
    isOn: existsSync(file),
    keep(on: boolean): void {
      // In the order of the switches.
      kept = kept
        .then(() => (on ? writeAtomically(file, '') : rm(file, { force: true })))
        .catch((error: unknown) => log.warn("whether requests are captured can't be kept for a restart", { error }));
    },
  };
};
