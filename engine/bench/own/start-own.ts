import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Allocations } from '../measure/allocations.ts';
import { type Helper, startProgram } from '../rpc.ts';
import type { OwnService } from '../targets/target.ts';
import type { ClientWire, Wire } from '../wire.ts';

/** What one such process is started for. */
export interface OwnSetup extends Omit<OwnService, 'folder'> {
  readonly client: ClientWire;
  readonly upstream: Wire;
}

/** What it is to do next. Streams stay open between two rounds of deltas. */
export type OwnQuestion =
  | { readonly type: 'requests'; readonly count: number; readonly clients: number; readonly bytes: number }
  | { readonly type: 'open'; readonly streams: number }
  /** To each open stream, in turns. */
  | { readonly type: 'deltas'; readonly each: number }
  | { readonly type: 'close' }
  | { readonly type: 'stop' };

/** What that cost. */
export interface OwnAnswer {
  /** Requests, or deltas. */
  readonly units: number;
  /** Processor time of the thread that serves, in microseconds. */
  readonly mainUs: number;
  /** The same of all threads: also those of V8, of the store, of token counting. */
  readonly allUs: number;
  readonly allocated: Allocations;
  readonly check: OwnCheck | undefined;
}

/** What went through since the last question. */
export interface OwnCheck {
  /** What is wrong with an answer; absent: nothing is. */
  readonly fault?: string;
  /** The last body that the provider got. */
  readonly sent: string;
}

/** Starts the service of this folder in a process of its own, between simulated sockets. */
export const startOwn = (folder: string, setup: OwnSetup): Helper<OwnQuestion, OwnAnswer> =>
  startProgram(fileURLToPath(new URL('engine/launch/bench-own.js', pathToFileURL(`${folder}/`))), [
    JSON.stringify(setup),
  ]);
