import { type Fault, FaultError } from '../../../engine/model/fault.ts';
import type { JsonObject } from '../../../engine/model/json/json.ts';
import { Losses } from '../../../engine/model/loss.ts';
import type { ModelRequest, Part, Turn } from '../../../engine/model/request.ts';
import { ToolNames } from '../../../engine/model/wire/tool-names.ts';
import type { GeminiOptions } from '../../../protocols/gemini/dialect.ts';
import { geminiUpstream } from '../../../protocols/gemini/index.ts';
import { plainRequest } from '../../support/context.ts';

/** What became of a request: the body, and its losses as `dropped path`. */
interface Encoded {
  readonly body: JsonObject;
  readonly losses: readonly string[];
  readonly names: ToolNames;
}

/** Encodes a request of which only these members are interesting, as undefined members are left out on the wire. */
export const encode = (over: Partial<ModelRequest>, options: GeminiOptions = {}): Encoded => {
  const losses = new Losses('gemini');
  const names = new ToolNames();
  const request = { ...plainRequest, model: 'gemini-2.5-flash', turns: [user(text('hi'))], ...over };
  const body = geminiUpstream(options).encodeRequest(request, { names, losses, replyIsRelayed: false });
  return {
    body: JSON.parse(JSON.stringify(body)),
    losses: losses.list.map(({ path, outcome }) => `${outcome} ${path}`),
    names,
  };
};

/** The fault that encoding ends in. */
export const faultOf = (over: Partial<ModelRequest>): Fault | undefined => {
  try {
    encode(over);
  } catch (error) {
    if (error instanceof FaultError) return error.fault;
    throw error;
  }
  return undefined;
};

export const text = (value: string): Part => ({ type: 'text', text: value });
export const user = (...parts: readonly Part[]): Turn => ({ role: 'user', parts });
export const model = (...parts: readonly Part[]): Turn => ({ role: 'assistant', parts });

/** A call of the tool `f`. */
export const call = (id: string, more: Partial<Extract<Part, { type: 'tool-call' }>> = {}): Part => ({
  type: 'tool-call',
  id,
  name: 'f',
  input: '{"x":1}',
  at: `at.${id}`,
  ...more,
});

/** What a call gave. */
export const result = (id: string, ...content: readonly Part[]): Part => ({
  type: 'tool-result',
  id,
  content,
  at: `re.${id}`,
});
