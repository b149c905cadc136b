import Type from 'typebox';
import { transformer } from '../engine/model/transformer.ts';
import { addExitTool } from './tooluse/add-exit-tool.ts';
import { encodeExit } from './tooluse/encode-exit.ts';

/**
 * Tool mode, for models that describe tool calls instead of making them: a call is forced, and an added exit tool
 * ends the turn. Its argument reaches the client as plain text.
 */
export const tooluse = transformer({
  name: 'tooluse',
  about: 'Makes models use tools: requires a call, and lets them answer in plain text through one.',
  options: Type.Object({}),
  request: addExitTool,
  events: () => encodeExit,
});
