import type { ModelRequest, TextPart } from '../model/request.ts';

/** A request without its model tags. */
export interface Untagged {
  /** What the first tag names; `undefined` when there is no tag, or it is empty. */
  readonly destination: string | undefined;
  /** Where the client wrote that tag, in its own spelling. */
  readonly at: string;
  /** The request given, when it has no tag. */
  readonly request: ModelRequest;
}

/**
 * Takes `<SWITCHYARD-MODEL>provider,model</SWITCHYARD-MODEL>`, or the same with claude-code-router's
 * `CCR-SUBAGENT-MODEL`, out of the system prompt. A text that held nothing else goes too, since vendors refuse empty ones.
 */
export const takeTag = (request: ModelRequest): Untagged => {
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
    if (text.trim() === '') passCacheMark(part, system);
    else system.push({ ...part, text });
  }
  return { destination, at: at ?? 'system', request: { ...request, system } };
};

const tag = /<(SWITCHYARD-MODEL|CCR-SUBAGENT-MODEL)>([^<]*)<\/\1>/g;

/** Looks for the fixed text first: prompts are long, and few have a tag. */
const isTagged = ({ text }: TextPart): boolean => text.includes('-MODEL>') && text.search(tag) >= 0;

/** The end of a cached stretch, when its own text goes, is the end of the text before. */
const passCacheMark = ({ cache }: TextPart, system: TextPart[]): void => {
  const last = system.pop();
  if (last) system.push(cache && !last.cache ? { ...last, cache } : last);
};
