import type { Scripted } from '../../support/vendors/script.ts';
import { thought } from '../../support/vendors/script.ts';
import type { Seen, SeenTool } from './seen.ts';
import type { Act } from './world.ts';

/** A coding agent: how it is run against the gateway. */
export interface Agent {
  readonly name: string;
  /** Its command, in the folder of installed programs. */
  readonly command: string;
  /** It is started as users do it, by `junctor run`, which directs it to the gateway; others are told the gateway's address. */
  readonly isRun?: true;
  readonly scenarios: readonly Scenario[];
  readonly setUp: (place: Place, scenario: Scenario, prompt: string) => Promise<Start>;
}

/** What a run of an agent has to itself. */
interface Place {
  /** The home folder, empty. */
  readonly home: string;
  /** The folder that it works in, empty. */
  readonly work: string;
  /** The folder of the agents' commands. */
  readonly commands: string;
  /** The gateway's address, which leads to the party behind it. */
  readonly gatewayUrl: string;
  /** The whole name of the party's model, which leads there from the gateway's plain address. */
  readonly destination: string;
}

interface Start {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** What an agent is to do, and how the vendor behind the gateway answers it. */
export interface Scenario {
  readonly name: string;
  /** The name of the model that the agent asks for. Default: its own. */
  readonly model?: string;
  /** The agent has the MCP server of these tests. */
  readonly mcp?: true;
  /** It has its calls judged, by the gateway or by a model behind it; default: all run, without asking anybody. */
  readonly isJudged?: true;
  /** The gateway searches for it; default: it may, but has no need to. */
  readonly searches?: true;
  readonly env?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  /** The vendor's answers; `request` counts from 1. */
  readonly script: (seen: Seen, tag: string, request: number) => Act;
  /** What the agent must have said at its end. */
  readonly says: (tag: string) => readonly RegExp[];
  /** It ends with an error, which is what it says. */
  readonly fails?: true;
  /** It asks for a WebSocket connection, and gets this status. */
  readonly handshake?: 101 | 426;
  /** It is run against one provider of every format only. */
  readonly oncePerFormat?: true;
  /** Requests that it takes at most, so that none is repeated without need. */
  readonly requests: number;
}

/** What the user asks for in every run. */
export const mainTask = (tag: string): string => `MAIN-TASK ${tag}`;

export const answer = (scripted: Scripted): Act => ({ type: 'answer', scripted });

/** Calls of tools that the request declares. A tool that it doesn't declare is told of in the answer's text, and the run fails. */
export const call = (seen: Seen, ...wanted: readonly (readonly [name: RegExp, input: Call['input']])[]): Act => {
  const calls = wanted.map(([name, input], index) => {
    const tool = findTool(seen, name);
    // Ids differ from turn to turn, as those of real vendors do.
    return tool && { ...callable(tool), id: `call_${seen.results.length}x${index}abcdefghijkl`, input };
  });
  const missing = wanted.filter(([name]) => !findTool(seen, name)).map(([name]) => String(name));
  const names = seen.tools.map(({ name }) => name).join(', ');
  return missing.length > 0
    ? answer({ text: `NO TOOL ${missing.join(', ')} AMONG ${names}` })
    : answer({ thinking: thought, calls: calls.filter((one) => one !== undefined) });
};

type Call = NonNullable<Scripted['calls']>[number];

const callable = ({ name, form, namespace }: SeenTool): Pick<Call, 'name' | 'form' | 'namespace'> => ({
  name,
  ...(form && { form }),
  ...(namespace && { namespace }),
});

const findTool = ({ tools }: Seen, name: RegExp): SeenTool | undefined => tools.find((tool) => name.test(tool.name));

/** The last answer of a run: it repeats what the tools said. */
export const done = ({ results }: Seen): Act => answer({ thinking: thought, text: `DONE ${results.join(' | ')} END` });

/** One call of the tool that runs commands, then two, of which one says nothing, then an answer. */
export const toolLoop = (tool: RegExp, run: (command: string) => Call['input']) =>
  ({
    name: 'a tool loop',
    script(seen, tag) {
      if (seen.results.length === 0) return call(seen, [tool, run(`echo one-${tag}`)]);
      if (seen.results.length === 1) return call(seen, [tool, run(`echo two-${tag}`)], [tool, run('true')]);
      return done(seen);
    },
    says: (tag) => [new RegExp(`DONE[^|]*one-${tag}[^|]*\\|[^]*two-${tag}[^]*END`)],
    requests: 3,
  }) satisfies Scenario;

/** Some request of the conversation says this. */
export const hasText = ({ texts }: Seen, words: string): boolean => texts.some((text) => text.includes(words));
