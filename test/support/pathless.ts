import { isJsonObject } from '../../engine/model/json/json.ts';
import type { Tool, Turn } from '../../engine/model/request.ts';

/** Turns and tools as a stage may add them: without paths in the client's body. Members of a vendor's own keep theirs. */
export const pathless = <T extends readonly Turn[] | readonly Tool[]>(nodes: T): T =>
  JSON.parse(
    JSON.stringify(nodes, (_, value: unknown) =>
      isJsonObject(value) && !('fields' in value) ? { ...value, at: undefined } : value,
    ),
  );
