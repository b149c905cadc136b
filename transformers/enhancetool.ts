import Type from 'typebox';
import { transformer } from '../engine/model/transformer.ts';
import { repairCalls } from './enhancetool/repair-calls.ts';

/** Buffers tool calls until they are complete, then repairs their arguments, for models that write invalid ones. */
export const enhancetool = transformer({
  name: 'enhancetool',
  about: 'Repairs tool calls: buffers each until it is complete, repairs its JSON and checks it against the tool.',
  options: Type.Object({}),
  events: () => repairCalls,
});
