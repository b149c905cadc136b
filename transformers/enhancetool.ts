import Type from 'typebox';
import { transformer } from '../engine/model/transformer.ts';
import { mendCalls } from './enhancetool/mend-calls.ts';

/** Holds tool calls until they are whole and hands them on with arguments that parse and fit, for models that are careless. */
export const enhancetool = transformer({
  name: 'enhancetool',
  about: 'Mends tool calls: holds each until it is whole, repairs its JSON and checks it against the tool.',
  options: Type.Object({}),
  events: () => mendCalls,
});
