/** What a simulated vendor answers; each vendor writes it in its own wire format. */
export interface Scripted {
  readonly thinking?: string;
  readonly text?: string;
  readonly calls?: readonly {
    readonly id: string;
    readonly name: string;
    readonly input: Readonly<Record<string, unknown>>;
    /** The call's form in Responses, where it isn't a function's; the other formats know functions alone. */
    readonly form?: 'custom' | 'tool_search';
    /** The group that declares the function in Responses. */
    readonly namespace?: string;
  }[];
}

/** What a vendor understood of a request, whatever its wire format. */
export interface Asked {
  /** The newest text of the user. */
  readonly text: string;
  /** Results of the newest calls, in order; empty when the newest turn has none. */
  readonly results: readonly string[];
  /** Names of the declared tools. */
  readonly tools: readonly string[];
  /** Media types of the images in the newest turn. */
  readonly images: readonly string[];
}

/** Every answer's token counts: 100 of prompt, of which 40 were cached; 20 of output, of which 5 were reasoning. */
export const counts = { prompt: 100, cached: 40, output: 20, reasoning: 5 } as const;

export const hello = 'Hello, żółw 🐢!\n"Quoted" \\ and\ttabbed.';
export const thought = 'Let me think 🤔 about it.';

/** The answer that the user's words ask for: `say hello`, `think`, `look`, `as JSON`, `use the tool`, `use both tools`. */
export const scripted = ({ text, results, tools, images }: Asked): Scripted => {
  const thinking = text.includes('think') ? { thinking: thought } : {};
  if (results.length > 0) return { ...thinking, text: `The tools said: ${results.join(' | ')}` };
  const [first = 'missing', second = 'missing'] = tools;
  const call = (id: string, name: string, city: string) => ({ id, name, input: { city } });
  if (text.includes('use both tools')) {
    return { ...thinking, calls: [call('call_one', first, 'Łódź'), call('call_two', second, 'São "Paulo"')] };
  }
  if (text.includes('use the tool')) return { ...thinking, text: 'Wait.', calls: [call('call_one', first, 'Łódź')] };
  if (text.includes('as JSON:')) return { ...thinking, text: '{"city":"Łódź"}' };
  if (text.includes('look')) return { text: `I see ${images.join(', ')}.` };
  return { ...thinking, text: hello };
};

/** Cuts a text in pieces of two UTF-16 units or so, never inside a character. */
export const pieces = (text: string): string[] => text.match(/[\s\S]{1,2}/gu) ?? [];

/** One record of a stream. */
export const sse = (data: unknown, event?: string): string =>
  `${event === undefined ? '' : `event: ${event}\n`}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;
