import type { ModelRequest, TextPart } from '../model/request.ts';

/** A request without its model tags. */
export interface UntaggedRequest {
  /** The text of the first non-empty tag; `undefined` if there is none. */
  readonly destination: string | undefined;
  /** The path of the first tag, in the client's field names. */
  readonly at: string;
  /** The same request object if there is no tag. */
  readonly request: ModelRequest;
}

/**
 * Removes `<SWITCHYARD-MODEL>provider,model</SWITCHYARD-MODEL>` from the system prompt, also under claude-code-router's name
 * `CCR-SUBAGENT-MODEL`. Texts that become empty are removed too, since vendors refuse them.
 */
export const takeModelTag = (request: ModelRequest): UntaggedRequest => {
  if (!request.system.some(isTagged)) return { destination: undefined, at: 'system', request };
  const system: TextPart[] = [];
  let destination: string | undefined;
  let at: string | undefined;
  for (const part of request.system) {
    if (!isTagged(part)) {
      system.push(part);
      continue;
    }
    const text = part.text.replace(tag, (_, _name, named: string) => {
      at ??= part.at;
      destination ??= named.trim() || undefined;
      return '';
    });
    if (text.trim() === '') moveCacheMark(part, system);
    else system.push({ ...part, text });
  }
  return { destination, at: at ?? 'system', request: { ...request, system } };
};

const tag = /<(SWITCHYARD-MODEL|CCR-SUBAGENT-MODEL)>([^<]*)<\/\1>/g;

/** Searches for a fixed text first, which is faster: prompts are long, and few have a tag. */
const isTagged = ({ text }: TextPart): boolean => text.includes('-MODEL>') && text.search(tag) >= 0;

/** Moves the cache mark of a removed text to the text before it. */
const moveCacheMark = ({ cache }: TextPart, system: TextPart[]): void => {
  const last = system.pop();
  if (last) system.push(cache && !last.cache ? { ...last, cache } : last);
};
