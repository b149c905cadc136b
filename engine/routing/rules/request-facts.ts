import { writeJson } from '../../model/json/json.ts';
import type { Outline } from '../../model/json/outline.ts';
import type { ClientProtocol } from '../../model/protocol.ts';
import type { ModelRequest } from '../../model/request.ts';
import { type Trajectory, trajectories, trajectory } from '../../model/trajectory.ts';
import { memoize } from '../../runtime/memoize.ts';
import type { PromptSize, PromptTokens } from '../tokens/prompt-tokens.ts';
import type { Decisions } from './decisions.ts';

/** The properties of a request that conditions test. */
export interface RequestFacts {
  readonly client: Pick<ClientProtocol, 'wire' | 'agentHeaders'>;
  readonly origin: RequestOrigin;
  /** A header by lower-case name. */
  readonly header: (name: string) => string | undefined;
  readonly request: ModelRequest;
  /** When the request arrived, in milliseconds since 1970. */
  readonly atMs: number;
  /** Restores the texts of an outline; absent: `request` has them. */
  readonly restore?: ((text: string) => string) | undefined;
  /** The state of its conversation with tools at an earlier request; absent: at this one. */
  readonly trajectory?: Trajectory;
  /** Its tokens: exact, or a bound on the same side of `threshold`; `undefined`: it depends on the exact count. */
  readonly sizeRelativeTo: (threshold: number) => PromptSize | undefined;
  /** Decisions of models about it; absent: no condition asks. */
  readonly decisions?: Decisions | undefined;
}

/** A decoded request. With an outline, `request` is that of the outline. */
interface DecodedRequest extends Pick<RequestFacts, 'client' | 'request'> {
  readonly incoming: Arrival & Pick<RequestFacts, 'header'>;
  readonly preset: string | undefined;
  readonly startedAtMs: number;
  readonly body: Uint8Array;
  readonly outline: Outline | undefined;
  readonly decisions?: Decisions | undefined;
}

/** The facts of a decoded request. With `counted`, its tokens have been counted. */
export const factsOf = (
  { client, incoming, preset, request, startedAtMs, body, outline, decisions }: DecodedRequest,
  tokens: PromptTokens,
  counted?: PromptSize,
): RequestFacts => ({
  client,
  origin: originOf(incoming, preset),
  header: (name) => incoming.header(name),
  request,
  atMs: startedAtMs,
  restore: outline?.restore,
  sizeRelativeTo(threshold) {
    const size = counted ?? tokens.sizeRelativeTo(request, threshold, body.length || bytesOf(request), outline);
    if (!size && decisions) decisions.needsCount = true;
    return size;
  },
  decisions,
});

/** The length of a stage's question, which has no body. */
const bytesOf = (request: ModelRequest): number => Buffer.byteLength(writeJson(request));

/** The state of the conversation at each request since the user last spoke, this one last. Read once per request. */
export const trajectoriesOf = memoize(({ request, restore }: RequestFacts): readonly Trajectory[] =>
  trajectories(request, { restore }),
);

/** The current state of the conversation. */
export const trajectoryOf = (facts: RequestFacts): Trajectory =>
  facts.trajectory ?? trajectoriesOf(facts).at(-1) ?? trajectory({ turns: [] });

/** An agent's declaration about its request, from the headers of its protocol. */
export const agentHint = (
  { agentHeaders }: RequestFacts['client'],
  request: Pick<RequestFacts, 'header'>,
  name: 'requestClass' | 'agentType' | 'compaction',
): string | undefined => {
  const named = agentHeaders?.[name];
  return named === undefined ? undefined : request.header(named);
};

/** A request's path and client. */
export interface RequestOrigin {
  /** The path as sent, without the preset. */
  readonly path: string;
  readonly preset: string | undefined;
  /** The name of the client whose key it carries; `undefined`: the administrator. */
  readonly key: string | undefined;
}

/** A request as it came in; one that no client sent has no path. */
interface Arrival {
  readonly path?: string | undefined;
  readonly namedClient?: string | undefined;
}

/** The origin of an incoming request; `preset` is its name in the path, if it has one. */
export const originOf = ({ path = '', namedClient }: Arrival, preset: string | undefined): RequestOrigin => ({
  path: preset === undefined ? path : path.replace(presetPart, ''),
  preset,
  key: namedClient,
});

/** The preset in a path, still percent-encoded. */
const presetPart = /^\/preset\/[^/]*/;

/** The origin of a request that no client sent. */
export const unknownOrigin: RequestOrigin = { path: '', preset: undefined, key: undefined };
