import { isJsonObject, type JsonObject } from '../../../engine/model/json/json.ts';
import type { Turn } from '../../../engine/model/request.ts';
import { isDecoded } from '../decode-request/decode-content.ts';
import type { BlockType, DecodedBlock } from '../schema-request.ts';

/** The conversion of a block of this format to another one. */
type BlockUse =
  /** A line of text. */
  | 'tool-reference'
  /** Changes the declared tools. */
  | 'tool-change'
  /** Its text takes the place of what stands before it. */
  | 'compaction'
  /** Left out with a loss: the answer can do without. */
  | 'dropped'
  /** Rejected: without it, the answer would be wrong. */
  | 'refused';

/**
 * The use of each block type that the decoder keeps as it is. Blocks of the vendor's own tools are history: what the model made of
 * them follows in its text.
 */
const uses: Readonly<Record<Exclude<BlockType, DecodedBlock>, BlockUse>> = {
  tool_reference: 'tool-reference',
  tool_addition: 'tool-change',
  tool_removal: 'tool-change',
  compaction: 'compaction',
  container_upload: 'refused',
  fallback: 'dropped',
  server_tool_use: 'dropped',
  web_search_tool_result: 'dropped',
  web_fetch_tool_result: 'dropped',
  code_execution_tool_result: 'dropped',
  bash_code_execution_tool_result: 'dropped',
  text_editor_code_execution_tool_result: 'dropped',
  tool_search_tool_result: 'dropped',
  advisor_tool_result: 'dropped',
  mcp_tool_use: 'dropped',
  mcp_tool_result: 'dropped',
  mcp_tool_listing: 'dropped',
};

const byType: ReadonlyMap<string, BlockUse> = new Map(Object.entries(uses));

/** The conversion of a block that was kept unchanged. An unknown one that carries a part of the request is rejected. */
export const blockUse = (block: JsonObject, role: Turn['role']): BlockUse => {
  const type = String(block.type);
  // The decoder didn't know its kind of source.
  if (isDecoded(type)) return 'refused';
  const known = byType.get(type);
  if (known) return known;
  if (role === 'assistant' && isServerTool(type)) return 'dropped';
  return carrying.some((name) => isFilled(block[name])) ? 'refused' : 'dropped';
};

/** Whether an unknown block of an answer is a step of one of the vendor's own tools. */
const isServerTool = (type: string): boolean => /_tool_(?:use|result|listing)$/.test(type);

/** Members in which a block carries text, media, tools or a task. */
const carrying: readonly string[] = [
  'text',
  'content',
  'source',
  'data',
  'tool',
  'tools',
  'definition',
  'task',
  'tasks',
  'instructions',
  'prompt',
  'message',
  'messages',
];

const isFilled = (value: unknown): boolean =>
  typeof value === 'string' ? value !== '' : Array.isArray(value) ? value.length > 0 : isJsonObject(value);
