import { inputText, type ModelRequest, type Part, type ToolCallPart } from './request.ts';

/** The state of a conversation with tools: the model's latest calls, and their results. */
export interface Trajectory {
  /** The name of the tool that was called last. */
  readonly lastTool: string | undefined;
  /** Number of calls like the last one, of the same tool with the same arguments, since the user last spoke; 0: no call. */
  readonly repeats: number;
  /** Turns of the model since the user last spoke. A turn with tool results is the client's, not the user's. */
  readonly sinceUser: number;
  /** Errors among this many of the latest tool results. */
  readonly toolErrors: (last: number) => number;
}

interface TrajectoryOptions {
  /** Restores the arguments of an outline. */
  readonly restore?: ((text: string) => string) | undefined;
}

/** The trajectory of a request, from its turns alone. Linear in their size. */
export const trajectory = (request: Pick<ModelRequest, 'turns'>, options: TrajectoryOptions = {}): Trajectory =>
  trajectories(request, options).at(-1) ?? start;

const start: Trajectory = { lastTool: undefined, repeats: 0, sinceUser: 0, toolErrors: () => 0 };

/**
 * The trajectories of all requests since the user last spoke, this one last: clients send the whole conversation each time. Linear in the
 * size of the turns.
 */
export const trajectories = (
  { turns }: Pick<ModelRequest, 'turns'>,
  { restore = (text) => text }: TrajectoryOptions = {},
): readonly Trajectory[] => {
  const results: boolean[] = [];
  let calls = new Map<string, number>();
  let steps: Trajectory[] = [];
  let lastTool: string | undefined;
  let repeats = 0;
  let sinceUser = 0;
  const note = (): void => {
    const counted = results.length;
    steps.push({
      lastTool,
      repeats,
      sinceUser,
      toolErrors: (last) => results.slice(Math.max(0, counted - last), counted).filter((isError) => isError).length,
    });
  };
  for (const [index, { role, parts }] of turns.entries()) {
    if (role === 'assistant') {
      for (const part of parts) {
        if (part.type !== 'tool-call') continue;
        const key = callKey(part, restore);
        repeats = (calls.get(key) ?? 0) + 1;
        calls.set(key, repeats);
        lastTool = part.name;
      }
      if (turns[index + 1]?.role !== 'assistant') sinceUser += 1;
    } else if (role === 'user') {
      if (isOwnTurn(parts)) {
        calls = new Map();
        steps = [];
        repeats = 0;
        sinceUser = 0;
      }
      for (const part of parts) if (part.type === 'tool-result') results.push(part.isError === true);
    }
    const next = turns[index + 1]?.role;
    if (next === undefined || (next === 'assistant' && role !== 'assistant')) note();
  }
  return steps;
};

/** Agents put reminders of their own beside tool results; a turn without results is the user's. */
const isOwnTurn = (parts: readonly Part[]): boolean =>
  parts.length > 0 && parts.every(({ type }) => type !== 'tool-result' && type !== 'opaque');

const callKey = ({ name, input }: ToolCallPart, restore: (text: string) => string): string =>
  `${name} ${restore(inputText(input))}`;

/** The user's last words: the texts of the last turn that is the user's own; empty if there is none. */
export const lastOwnText = (
  { turns }: Pick<ModelRequest, 'turns'>,
  { restore = (text) => text }: TrajectoryOptions = {},
): string => {
  const texts = ({ parts }: ModelRequest['turns'][number]): readonly string[] =>
    parts.flatMap((part) => (part.type === 'text' ? [restore(part.text)] : []));
  const last = turns.findLast((turn) => turn.role === 'user' && isOwnTurn(turn.parts) && turn.parts.some(isText));
  return last ? texts(last).join('\n').trim() : '';
};

const isText = (part: Part): boolean => part.type === 'text' && part.text.trim() !== '';
