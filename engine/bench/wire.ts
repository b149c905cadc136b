/** The wire formats that the harness speaks. `gemini` is only met on the provider's side. */
export type Wire = ClientWire | 'gemini';

/** Those of clients. */
export type ClientWire = 'messages' | 'chat' | 'responses';

export const clientWires = ['messages', 'chat', 'responses'] as const satisfies readonly ClientWire[];
export const wires = ['chat', 'messages', 'responses', 'gemini'] as const satisfies readonly Wire[];

/** What a client speaks, and what the provider behind the gateway speaks. */
export interface Pair {
  /** `messages→chat`. */
  readonly name: string;
  readonly client: Wire;
  readonly upstream: Wire;
}

const pair = (client: ClientWire, upstream: Wire): Pair => ({ name: `${client}→${upstream}`, client, upstream });

/** The pairs of scenes that are named without any, the most used first. */
export const pairs = [
  pair('messages', 'chat'),
  pair('chat', 'chat'),
  pair('chat', 'messages'),
  pair('responses', 'chat'),
  pair('messages', 'gemini'),
] as const satisfies readonly Pair[];

/** The pairs of clients that use WebSocket, the most used first. */
export const socketPairs = [
  pair('responses', 'responses'),
  pair('responses', 'chat'),
  pair('responses', 'messages'),
  pair('responses', 'gemini'),
] as const satisfies readonly Pair[];

/** Every pair that can be named, by the provider's format. */
export const allPairs: readonly Pair[] = wires.flatMap((upstream) =>
  clientWires.map((client) => pair(client, upstream)),
);

/** The pair of this name, written with `→`, `->` or `-`; throws an error that lists them when there is none. */
export const pairNamed = (name: string): Pair => {
  const found = allPairs.find((candidate) => candidate.name === name.replace(/->|-/, '→'));
  if (!found) throw new Error(`No pair is called ${name}; there are ${allPairs.map((each) => each.name).join(', ')}.`);
  return found;
};

/** The model that clients ask for: a bare name, so that the gateway has to route. */
export const askedModel = 'bench-model';

/** Where a client of this format posts, for a streamed answer or a whole one. */
export const pathOf = (wire: Wire, streamed: boolean): string => paths[wire](streamed);

const paths: Readonly<Record<Wire, (streamed: boolean) => string>> = {
  messages: () => '/v1/messages',
  chat: () => '/v1/chat/completions',
  responses: () => '/v1/responses',
  gemini: (streamed) =>
    `/v1beta/models/${askedModel}:${streamed ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
};

/** The format that a path of a provider is of. */
export const wireAt = (path: string): Wire => {
  if (path.endsWith('/chat/completions')) return 'chat';
  if (path.endsWith('/messages')) return 'messages';
  return path.endsWith('/responses') ? 'responses' : 'gemini';
};
