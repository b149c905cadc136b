import type { KeptRequest } from '../../engine/features/record/schema.ts';

/** A file of requests that an earlier process kept, in the order of their ends: each has these members, and usual ones. */
export const keptFile = (
  requests: readonly (Partial<KeptRequest> & Pick<KeptRequest, 'id' | 'endedAt'>)[],
): Readonly<Record<string, string>> => {
  const lines = requests.map((own, at): KeptRequest => {
    const { endedAt, durationMs = 20 } = own;
    return {
      n: at + 1,
      startedAt: endedAt - durationMs,
      path: '/v1/chat/completions',
      protocol: 'chat',
      asked: 'any',
      stream: false,
      provider: 'fast',
      model: 'small',
      status: 200,
      durationMs,
      losses: [],
      relayed: { request: true, reply: true },
      captured: false,
      ...own,
    };
  });
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  return { [`history/${lines[0]?.endedAt}.1-${lines.at(-1)?.endedAt}.jsonl`]: text };
};
