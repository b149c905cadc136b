import Type from 'typebox';
import { transformer } from '../engine/model/transformer.ts';
import { offerExit } from './tooluse/offer-exit.ts';
import { speakExit } from './tooluse/speak-exit.ts';

/**
 * Tool mode, for models that rather talk about tools than call them: some tool must be called, and one of them ends the
 * turn. What the model says by it reaches the client as plain text.
 */
export const tooluse = transformer({
  name: 'tooluse',
  about: 'Makes models use tools: requires a call, and lets them answer in plain text through one.',
  options: Type.Object({}),
  request: offerExit,
  events: () => speakExit,
});
