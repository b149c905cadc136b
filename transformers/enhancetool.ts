import Type from 'typebox';
import { transformer } from '../engine/model/transformer.ts';
import { mendCalls } from './enhancetool/mend-calls.ts';

/** Holds tool calls until they are whole and hands them on with arguments that parse and fit, for models that are careless. */
export const enhancetool = transformer({
  name: 'enhancetool',
  options: Type.Object({}),
  events: () => mendCalls,
});
