import { corpusText } from '../corpus.ts';

/** A step of a conversation, in no protocol's words. */
export type Turn =
  | { readonly type: 'user'; readonly text: string }
  | { readonly type: 'assistant'; readonly text: string }
  /** A tool's call and what it gave. */
  | { readonly type: 'call'; readonly id: string; readonly path: string; readonly result: string };

/** The system prompt of every conversation. */
export const systemText = `You are a careful yard master. ${corpusText(40, 240)}`;

/** What a coding agent declares; sent with long conversations only. */
export const tools = ['read_file', 'list_files', 'search', 'edit_file', 'run_command', 'fetch_page'].map(
  (name, index) => ({
    name,
    description: `Does what its name says: ${corpusText(index * 97, 220)}`,
    schema: {
      type: 'object',
      properties: {
        path: { type: 'string', description: 'Absolute path.' },
        limit: { type: 'integer', description: 'Lines at most.' },
        kind: { type: 'string', enum: ['any', 'text', 'binary'] },
      },
      required: ['path'],
    },
  }),
);

/** The n-th exchange of a long conversation: a question, a tool's call with its result, an answer; `size` characters or so. */
export const exchange = (n: number, size: number): readonly Turn[] => [
  { type: 'user', text: `Question ${n}: ${corpusText(n * 31, Math.ceil(size / 6))}` },
  {
    type: 'call',
    id: `call_bench${n}`,
    path: `/yard/track-${n}/list.ts`,
    result: `Result ${n}:\n${corpusText(n * 17, Math.ceil(size / 2))}`,
  },
  { type: 'assistant', text: `Answer ${n}: ${corpusText(n * 53, Math.ceil(size / 4))}` },
];
