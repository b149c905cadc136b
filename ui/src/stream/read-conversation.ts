import { isJsonObject, type JsonObject } from '../api/json.ts';
import type { Protocol } from '../api/protocols.ts';
import { chatTurns } from './chat-turns.ts';
import type { Conversation, Turn } from './conversation.ts';
import { messagesTurns } from './messages-turns.ts';
import { responsesTurns } from './responses-turns.ts';
import { joinTurns } from './turns.ts';
import { objectAt, objectsAt, textAt } from './wire-value.ts';

const readers: Readonly<Record<Protocol, (body: JsonObject) => readonly Turn[]>> = {
  messages: messagesTurns,
  chat: chatTurns,
  responses: responsesTurns,
};

/** Reads the conversation in a request's body. */
export const readConversation = (protocol: Protocol, body: JsonObject): Conversation => ({
  turns: joinTurns(readers[protocol](body)),
  tools: objectsAt(body, 'tools').map((tool) => {
    // Chat Completions nests a tool below the name of its type.
    const inner = objectAt(tool, textAt(tool, 'type'));
    const at = (name: string): string => textAt(inner, name) || textAt(tool, name);
    const schema = tool.input_schema ?? inner.parameters ?? tool.parameters;
    return {
      name: at('name') || textAt(tool, 'type'),
      about: at('description'),
      schema: isJsonObject(schema) ? schema : undefined,
    };
  }),
  parameters: Object.fromEntries(Object.entries(body).filter(([name]) => !shown.has(name))),
});

/** The fields of a body that aren't parameters. */
const shown: ReadonlySet<string> = new Set(['system', 'instructions', 'messages', 'input', 'tools']);
