import { call } from './call.ts';
import type { Protocol } from './protocols.ts';

/** What a node is there for. */
export type Step =
  | 'client'
  | 'decode-request'
  | 'route'
  | 'stage-request'
  | 'encode-request'
  | 'forward-request'
  | 'call-upstream'
  | 'read-records'
  | 'decode-stream'
  | 'decode-reply'
  | 'stage-events'
  | 'encode-stream'
  | 'encode-reply'
  | 'relay-reply';

/** A step of a request's way. */
export interface GraphNode {
  /** Unique in its graph. */
  readonly id: string;
  readonly step: Step;
  /** What does the work: a protocol, a stage, a format, a provider. */
  readonly name: string;
  readonly takes: string;
  readonly gives: string;
  /** Of a stage: the entry of the configuration that put it there. */
  readonly entry?: string;
  /** Of a stage: names of the options that are set. */
  readonly options?: readonly string[];
  /** Of a stage of the user's own. */
  readonly path?: string;
  /** Of the call. */
  readonly url?: string;
}

/** The way from one node to the next. */
interface GraphEdge {
  readonly from: string;
  readonly to: string;
  readonly carries: string;
  readonly when?: 'as-it-came' | 'converted' | 'streamed' | 'whole';
}

/** Whether something may pass untouched, and why not. */
interface Passage {
  readonly open: boolean;
  readonly why: string;
}

/** The graph of one client protocol's requests to one model: what runs. */
export interface Graph {
  readonly client: Protocol;
  readonly provider: string;
  readonly model: string;
  /** The routes that lead here: `default`, scenarios, `explicit`. */
  readonly routes: readonly string[];
  readonly format: { readonly name: string; readonly because: 'entry' | 'host' | 'plain'; readonly entry?: string };
  readonly passThrough: { readonly request: Passage; readonly reply: Passage };
  /** Why requests can't go this way. */
  readonly fault: string | null;
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
}

/** The graphs of all configured routes, or of one destination. */
export const readGraphs = async (
  query: { readonly client?: Protocol; readonly provider?: string; readonly model?: string } = {},
  signal?: AbortSignal,
): Promise<readonly Graph[]> =>
  (await call<{ readonly graphs: readonly Graph[] }>('/api/graph', { query: { ...query }, signal })).graphs;
