/** The payload of an edge: raw bytes, one typed request, SSE records, typed events, or text for the client. */
export type Payload = 'bytes' | 'request' | 'records' | 'events' | 'text';

/** The kind of a node. Part of the API. */
export type NodeKind =
  | 'client'
  | 'decode-request'
  | 'route'
  | 'stage-request'
  | 'stage-around'
  | 'encode-request'
  | 'forward-request'
  | 'stage-call'
  | 'call-upstream'
  | 'read-records'
  | 'decode-stream'
  | 'decode-reply'
  | 'stage-events'
  | 'stage-answer'
  | 'encode-stream'
  | 'encode-reply'
  | 'relay-reply';

/** A step, and the function that performs it. */
export interface GraphNode<In extends Payload = Payload, Out extends Payload = Payload, Work = unknown> {
  /** Unique in the graph. */
  readonly id: string;
  readonly step: NodeKind;
  /** The name of the protocol, stage, format or provider that performs it. */
  readonly name: string;
  readonly takes: In;
  readonly gives: Out;
  readonly work: Work;
  readonly about: NodeDetails;
}

/** Details of a node for users. Never secrets. */
export interface NodeDetails {
  /** The known host and model families whose differences apply, and how each was recognised. */
  readonly rows?: readonly string[];
  /** The form of a stage. */
  readonly form?: string;
  /** Why the format was chosen. */
  readonly because?: string;
  /** The configuration entry of a stage or format. */
  readonly entry?: string;
  /** Names of the options that are set. */
  readonly options?: readonly string[];
  /** A custom stage's module. */
  readonly path?: string;
  /** Destinations that a custom stage may call besides that of the request. */
  readonly asks?: readonly string[];
  /** The time limit of a stage, in milliseconds, if its entry has one. */
  readonly timeoutMs?: number;
  /** The condition of a stage, if its entry has one. */
  readonly when?: string;
  /** `skip`: requests go on without the stage when it fails. */
  readonly onError?: 'skip';
  /** The ids of the nodes that a stage is around. */
  readonly wraps?: readonly string[];
  /** URL of the call, without credentials and query. */
  readonly url?: string;
  /** Replacements in relayed bytes. */
  readonly but?: readonly string[];
}

/** A connection from one node to the next. */
export interface GraphEdge {
  readonly from: string;
  readonly to: string;
  readonly carries: Payload;
  /** The condition, where several edges leave a node. `as-it-came` excludes `converted`, `streamed` excludes `whole`. */
  readonly when?: 'as-it-came' | 'converted' | 'streamed' | 'whole';
}

/** Connects two nodes; the first one's output must be the second one's input. */
export const connect = <C extends Payload>(
  from: { readonly id: string; readonly gives: C },
  to: { readonly id: string; readonly takes: C },
  when?: GraphEdge['when'],
): GraphEdge => ({ from: from.id, to: to.id, carries: from.gives, ...(when && { when }) });

/** Connects nodes of the same payload in a row. */
export const connectAll = <C extends Payload>(nodes: readonly GraphNode<C, C>[]): readonly GraphEdge[] =>
  nodes.slice(1).flatMap((to, index) => {
    const from = nodes[index];
    return from ? [connect(from, to)] : [];
  });
