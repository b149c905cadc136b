import type { JsonObject } from '../model/json.ts';

/** What flows along an edge: raw bytes, one typed request, SSE records, typed events, or text for the client. */
export type Cargo = 'bytes' | 'request' | 'records' | 'events' | 'text';

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

/** A step of a request's way, and what does its work when the way is gone. */
export interface GraphNode<In extends Cargo = Cargo, Out extends Cargo = Cargo, Work = unknown> {
  /** Unique in the graph. */
  readonly id: string;
  readonly step: Step;
  /** The name of what does the work: a protocol, a stage, a format, a provider. */
  readonly name: string;
  readonly takes: In;
  readonly gives: Out;
  readonly work: Work;
  /** More for users: where the configuration asks for it, names of its options. Never a secret. */
  readonly about: JsonObject;
}

/** The way from one node to the next. */
export interface GraphEdge {
  readonly from: string;
  readonly to: string;
  readonly carries: Cargo;
  /**
   * When it is taken, where there is more than one way on: `as-it-came` and `converted` exclude each other, as do `streamed`
   * and `whole`.
   */
  readonly when?: 'as-it-came' | 'converted' | 'streamed' | 'whole';
}

/** Joins two nodes; what the first one gives must be what the second one takes. */
export const edge = <C extends Cargo>(
  from: { readonly id: string; readonly gives: C },
  to: { readonly id: string; readonly takes: C },
  when?: GraphEdge['when'],
): GraphEdge => ({ from: from.id, to: to.id, carries: from.gives, ...(when && { when }) });

/** Joins nodes in a row that take and give the same. */
export const chain = <C extends Cargo>(nodes: readonly GraphNode<C, C>[]): readonly GraphEdge[] =>
  nodes.slice(1).flatMap((to, index) => {
    const from = nodes[index];
    return from ? [edge(from, to)] : [];
  });
