import { chatToChat } from './chat-to-chat.ts';
import { chatToMessages } from './chat-to-messages.ts';
import type { Conversion } from './conversion.ts';
import { messagesToChat } from './messages-to-chat.ts';
import { messagesToGemini } from './messages-to-gemini.ts';
import { responsesToChat } from './responses-to-chat.ts';
import { responsesToResponses } from './responses-to-responses.ts';

/** The hand-written conversion of each pair, by its name. */
export const conversions: ReadonlyMap<string, Conversion> = new Map([
  ['messages→chat', messagesToChat],
  ['chat→chat', chatToChat],
  ['chat→messages', chatToMessages],
  ['responses→chat', responsesToChat],
  ['responses→responses', responsesToResponses],
  ['messages→gemini', messagesToGemini],
]);
