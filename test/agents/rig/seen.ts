import type { Scripted } from '../../support/vendors/script.ts';

/** What a vendor sees of a request, whatever its wire format. */
export interface Seen {
  readonly tools: readonly SeenTool[];
  /** What the user and the instructions say, in order. */
  readonly texts: readonly string[];
  /** Results of all calls of the history, in order. */
  readonly results: readonly string[];
}

/** A declared tool, as a call of it is written in its wire format. */
export interface SeenTool extends Pick<NonNullable<Scripted['calls']>[number], 'name' | 'form' | 'namespace'> {
  readonly schema: unknown;
}

/** How a wire format's requests are read. */
export type Wire = 'messages' | 'chat' | 'responses' | 'gemini';

/** Reads a request. What has another form than expected counts as absent. */
export const readSeen = (wire: Wire, body: unknown): Seen => readers[wire](loose(body));

type Loose = Readonly<Record<string, unknown>>;

/** A value as an object; what is none is empty. */
export const loose = (value: unknown): Loose =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.fromEntries(Object.entries(value)) : {};
/** A value as a list of objects; what is none is empty. */
export const list = (value: unknown): readonly Loose[] => (Array.isArray(value) ? value.map(loose) : []);
const text = (value: unknown): string => (typeof value === 'string' ? value : '');

/** The text of content: a string, or its parts' texts. */
const words = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : list(content)
        .map((part) => text(part.text) || text(part.encrypted_content) || text(part.tool_name))
        .join('\n');

const tool = (name: unknown, schema: unknown, more: Omit<SeenTool, 'name' | 'schema'> = {}): SeenTool => ({
  name: text(name),
  schema,
  ...more,
});

const readers: Readonly<Record<Wire, (body: Loose) => Seen>> = {
  messages({ tools, system, messages }) {
    const turns = list(messages);
    const blocks = turns.flatMap(({ content }) => list(content));
    return {
      tools: list(tools).map(({ name, input_schema: schema }) => tool(name, schema)),
      texts: [words(system), ...turns.filter(({ role }) => role !== 'assistant').map(({ content }) => words(content))],
      results: blocks.filter(({ type }) => type === 'tool_result').map(({ content }) => words(content)),
    };
  },
  chat({ tools, messages }) {
    const turns = list(messages);
    return {
      tools: list(tools).map((declared) => {
        const { name, parameters } = loose(declared.function);
        return declared.type === 'custom'
          ? tool(loose(declared.custom).name, undefined, { form: 'custom' })
          : tool(name, parameters);
      }),
      texts: turns
        .filter(({ role }) => role === 'system' || role === 'developer' || role === 'user')
        .map(({ content }) => words(content)),
      results: turns.filter(({ role }) => role === 'tool').map(({ content }) => words(content)),
    };
  },
  responses({ tools, instructions, input }) {
    const items = typeof input === 'string' ? [{ role: 'user', content: input }] : list(input);
    const declared = [...list(tools), ...items.flatMap((item) => list(loose(item).tools))];
    return {
      tools: declared.flatMap((one) => responsesTools(one)),
      texts: [
        text(instructions),
        ...items
          .filter(
            ({ role, type }: Loose) =>
              (role !== undefined && role !== 'assistant') || type === 'agent_message' || type === 'compaction',
          )
          .map(({ content, encrypted_content: sealed }) => words(content) || text(sealed)),
      ],
      results: items
        .filter(({ type }: Loose) => /_output$/.test(text(type)))
        .map(({ output, tools: found }: Loose) => words(output) || JSON.stringify(found ?? '')),
    };
  },
  gemini({ tools, systemInstruction, contents }) {
    const turns = list(contents);
    const parts = turns.flatMap((turn) => list(turn.parts));
    return {
      tools: list(tools)
        .flatMap(({ functionDeclarations }) => list(functionDeclarations))
        .map(({ name, parameters, parametersJsonSchema }) => tool(name, parameters ?? parametersJsonSchema)),
      texts: [
        words(loose(systemInstruction).parts),
        ...turns.filter(({ role }) => role !== 'model').map((turn) => words(turn.parts)),
      ],
      results: parts.flatMap(({ functionResponse }) =>
        functionResponse === undefined ? [] : [resultText(loose(loose(functionResponse).response))],
      ),
    };
  },
};

const resultText = ({ output, ...rest }: Loose): string =>
  typeof output === 'string' ? output : JSON.stringify(output ?? rest);

const responsesTools = ({ type, name, tools, parameters }: Loose, namespace?: string): readonly SeenTool[] => {
  const group = namespace === undefined ? {} : { namespace };
  switch (type) {
    case 'namespace':
      return list(tools).flatMap((one) => responsesTools(one, text(name)));
    case 'custom':
      return [tool(name, undefined, { form: 'custom', ...group })];
    case 'tool_search':
      return [tool('tool_search', parameters, { form: 'tool_search' })];
    default:
      return name === undefined ? [] : [tool(name, parameters, group)];
  }
};
