import type { Json, JsonObject } from '../../engine/model/json/json.ts';
import type { ClientWire } from '../../engine/model/wire/client-wires.ts';

/** Bodies of one client protocol that grow with a count in one way each. */
type HostileBodies = Readonly<Record<string, (count: number) => JsonObject>>;

const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

const long = 'x'.repeat(70);
const dotted = (count: number): string => 'a.'.repeat(count * 5);
const bracketed = (count: number): string => '[0]'.repeat(count * 4);
const unknown = (count: number): JsonObject => Object.fromEntries(times(count, (index) => [`unknown_${index}`, 1]));

const schemas: Readonly<Record<string, (count: number) => JsonObject>> = {
  'many properties': (count) => ({
    type: 'object',
    properties: Object.fromEntries(times(count, (index) => [`p${index}`, { type: 'string', pattern: 'a' }])),
    required: times(count, (index) => `p${index}`),
  }),
  'many alternatives': (count) => ({
    type: 'object',
    properties: {
      a: {
        anyOf: times(count, (index) => ({
          type: 'object',
          properties: { [`p${index}`]: {} },
          required: [`p${index}`],
        })),
      },
    },
    anyOf: times(count, (index) => ({ required: [`p${index}`], type: 'object' })),
    allOf: times(count, (index) => ({ properties: { [`q${index}`]: { type: 'string' } } })),
  }),
  'many references to one definition': (count) => ({
    type: 'object',
    properties: Object.fromEntries(times(count, (index) => [`p${index}`, { $ref: '#/$defs/d' }])),
    $defs: { d: { type: 'object', properties: { a: { type: 'string' }, b: { $ref: '#/$defs/d' } } } },
  }),
  'a chain of references': (count) => ({
    type: 'object',
    properties: { a: { $ref: '#/$defs/d0' } },
    $defs: Object.fromEntries(times(count, (index) => [`d${index}`, { $ref: `#/$defs/d${index + 1}` }])),
  }),
  'references that double at each step': (count) => ({
    type: 'object',
    properties: { a: { $ref: '#/$defs/d0' } },
    $defs: Object.fromEntries(
      times(Math.min(count, 60), (index) => [
        `d${index}`,
        { type: 'object', properties: { a: { $ref: `#/$defs/d${index + 1}` }, b: { $ref: `#/$defs/d${index + 1}` } } },
      ]),
    ),
  }),
  'a long enum': (count) => ({
    type: 'object',
    properties: { a: { enum: times(count, (index) => (index % 2 ? index : `v${index}`)) } },
  }),
  'many types': (count) => ({ type: 'object', properties: { a: { type: times(count, () => 'string') } } }),
};

const eachSchema = (body: (schema: JsonObject) => JsonObject): HostileBodies =>
  Object.fromEntries(
    Object.entries(schemas).map(([name, make]) => [`a schema with ${name}`, (count: number) => body(make(count))]),
  );

const messages = (more: JsonObject): JsonObject => ({
  model: 'm',
  max_tokens: 9,
  messages: [{ role: 'user', content: 'hi' }],
  ...more,
});
const chat = (more: JsonObject): JsonObject => ({ model: 'm', messages: [{ role: 'user', content: 'hi' }], ...more });
const responses = (more: JsonObject): JsonObject => ({ model: 'm', input: 'hi', ...more });
const user = (content: Json) => ({ role: 'user', content });
const assistant = (content: Json) => ({ role: 'assistant', content });

/** What a hostile client may write, each at a size of its own choice. */
export const hostileRequests: Readonly<Record<ClientWire, HostileBodies>> = {
  messages: {
    'long names of tools that begin alike': (count) =>
      messages({ tools: times(count, (index) => ({ name: `${long}${index}`, input_schema: { type: 'object' } })) }),
    'many turns': (count) => messages({ messages: times(count, (index) => (index % 2 ? assistant('a') : user('u'))) }),
    'many turns of one side': (count) => messages({ messages: times(count, () => user('u')) }),
    'many parts': (count) => messages({ messages: [user(times(count, () => ({ type: 'text', text: 'a' })))] }),
    'many system parts': (count) => messages({ system: times(count, () => ({ type: 'text', text: 'a' })) }),
    'system turns amid the others': (count) =>
      messages({ messages: times(count, (index) => ({ role: index % 2 ? 'system' : 'user', content: 'a' })) }),
    'calls of one id': (count) =>
      messages({
        messages: [
          user('u'),
          assistant(times(count, () => ({ type: 'tool_use', id: 'a', name: 'f', input: {} }))),
          user(times(count, () => ({ type: 'tool_result', tool_use_id: 'a', content: 'r' }))),
        ],
      }),
    'long ids of calls': (count) =>
      messages({
        messages: [
          user('u'),
          assistant(
            times(count, (index) => ({ type: 'tool_use', id: `${long}${index}`, name: `f.${index}`, input: {} })),
          ),
          user(times(count, (index) => ({ type: 'tool_result', tool_use_id: `${long}${index}`, content: 'r' }))),
        ],
      }),
    'calls without results': (count) =>
      messages({
        messages: times(count, (index) =>
          index % 2 ? assistant([{ type: 'tool_use', id: `a${index}`, name: 'f', input: {} }]) : user('u'),
        ),
      }),
    'results without calls': (count) =>
      messages({
        messages: [user(times(count, (index) => ({ type: 'tool_result', tool_use_id: `${index}`, content: 'r' })))],
      }),
    'results with pictures': (count) =>
      messages({
        messages: [
          user('u'),
          assistant([{ type: 'tool_use', id: 'a', name: 'f', input: {} }]),
          user([
            {
              type: 'tool_result',
              tool_use_id: 'a',
              content: times(count, () => ({
                type: 'image',
                source: { type: 'base64', media_type: 'image/png', data: 'AAAA' },
              })),
            },
          ]),
        ],
      }),
    'many thoughts': (count) =>
      messages({
        messages: [
          user('u'),
          assistant([
            ...times(count, (index) => ({ type: 'thinking', thinking: 't', signature: `s${index}` })),
            { type: 'text', text: 'a' },
          ]),
          user('u'),
        ],
      }),
    'many citations': (count) =>
      messages({
        messages: [
          user('u'),
          assistant([
            {
              type: 'text',
              text: 'a',
              citations: times(count, () => ({
                type: 'char_location',
                cited_text: 'a',
                document_index: 0,
                document_title: 't',
                start_char_index: 0,
                end_char_index: 1,
              })),
            },
          ]),
          user('u'),
        ],
      }),
    'many unknown fields': (count) => messages(unknown(count)),
    'many unknown fields of a part': (count) =>
      messages({ messages: [user([{ type: 'text', text: 'a', ...unknown(count) }])] }),
    'a dotted unknown field': (count) => messages({ [dotted(count)]: 1 }),
    'a dotted unknown field of a part': (count) =>
      messages({ messages: [user([{ type: 'text', text: 'a', [dotted(count)]: 1 }])] }),
    'a bracketed unknown field of a tool': (count) =>
      messages({ tools: [{ name: 'f', input_schema: { type: 'object' }, [bracketed(count)]: 1 }] }),
    'stop sequences': (count) => messages({ stop_sequences: times(count, (index) => `s${index}`) }),
    ...eachSchema((schema) => messages({ tools: [{ name: 'f', input_schema: schema }] })),
  },
  chat: {
    'long names of tools that begin alike': (count) =>
      chat({
        tools: times(count, (index) => ({
          type: 'function',
          function: { name: `${long}${index}`, parameters: { type: 'object' } },
        })),
      }),
    'a choice among many tools': (count) =>
      chat({
        tools: times(count, (index) => ({
          type: 'function',
          function: { name: `f${index}`, parameters: { type: 'object' } },
        })),
        tool_choice: {
          type: 'allowed_tools',
          allowed_tools: {
            mode: 'auto',
            tools: times(count, (index) => ({ type: 'function', function: { name: `f${count - index}` } })),
          },
        },
      }),
    'many turns': (count) => chat({ messages: times(count, (index) => (index % 2 ? assistant('a') : user('u'))) }),
    'many system turns': (count) =>
      chat({ messages: [...times(count, () => ({ role: 'system', content: 's' })), user('u')] }),
    'calls of one id': (count) =>
      chat({
        messages: [
          user('u'),
          {
            role: 'assistant',
            tool_calls: times(count, () => ({ id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } })),
          },
          ...times(count, () => ({ role: 'tool', tool_call_id: 'a', content: 'r' })),
        ],
      }),
    'calls of many ids': (count) =>
      chat({
        messages: [
          user('u'),
          {
            role: 'assistant',
            tool_calls: times(count, (index) => ({
              id: `${long}${index}`,
              type: 'function',
              function: { name: `f.${index}`, arguments: '{}' },
            })),
          },
          ...times(count, (index) => ({ role: 'tool', tool_call_id: `${long}${index}`, content: 'r' })),
        ],
      }),
    'many parts': (count) => chat({ messages: [user(times(count, () => ({ type: 'text', text: 'a' })))] }),
    'many details of reasoning': (count) =>
      chat({
        messages: [
          user('u'),
          {
            role: 'assistant',
            content: 'a',
            reasoning_details: times(count, (index) => ({ type: 'reasoning.text', text: 't', index, id: `r${index}` })),
          },
          user('u'),
        ],
      }),
    'many unknown fields': (count) => chat(unknown(count)),
    'a dotted unknown field': (count) => chat({ [dotted(count)]: 1 }),
    'a dotted unknown field of a part': (count) =>
      chat({ messages: [user([{ type: 'text', text: 'a', [dotted(count)]: 1 }])] }),
    'many stops': (count) => chat({ stop: times(count, (index) => `s${index}`) }),
    'a long bias': (count) => chat({ logit_bias: Object.fromEntries(times(count, (index) => [`${index}`, 1])) }),
    ...eachSchema((schema) => chat({ tools: [{ type: 'function', function: { name: 'f', parameters: schema } }] })),
  },
  responses: {
    'long names of tools that begin alike': (count) =>
      responses({
        tools: times(count, (index) => ({ type: 'function', name: `${long}${index}`, parameters: { type: 'object' } })),
      }),
    'a namespace of many tools': (count) =>
      responses({
        tools: [
          {
            type: 'namespace',
            name: long,
            description: 'd',
            tools: times(count, (index) => ({
              type: 'function',
              name: `${long}${index}`,
              parameters: { type: 'object' },
            })),
          },
        ],
      }),
    'many namespaces': (count) =>
      responses({
        tools: times(count, (index) => ({
          type: 'namespace',
          name: `${long}${index}`,
          description: 'd',
          tools: [{ type: 'function', name: `f${index}`, parameters: { type: 'object' } }],
        })),
      }),
    'a choice among many tools': (count) =>
      responses({
        tools: times(count, (index) => ({ type: 'function', name: `f${index}`, parameters: { type: 'object' } })),
        tool_choice: {
          type: 'allowed_tools',
          mode: 'auto',
          tools: times(count, (index) => ({ type: 'function', name: `f${count - index}` })),
        },
      }),
    'many items': (count) =>
      responses({ input: times(count, (index) => ({ role: index % 2 ? 'assistant' : 'user', content: 'a' })) }),
    'many system items': (count) =>
      responses({ input: [...times(count, () => ({ role: 'developer', content: 'a' })), user('u')] }),
    'calls of one id': (count) =>
      responses({
        input: [
          ...times(count, () => ({ type: 'function_call', call_id: 'a', name: 'f', arguments: '{}' })),
          ...times(count, () => ({ type: 'function_call_output', call_id: 'a', output: 'r' })),
        ],
      }),
    'calls of many ids': (count) =>
      responses({
        input: [
          ...times(count, (index) => ({
            type: 'function_call',
            call_id: `${long}${index}`,
            name: `f.${index}`,
            arguments: '{}',
          })),
          ...times(count, (index) => ({ type: 'function_call_output', call_id: `${long}${index}`, output: 'r' })),
        ],
      }),
    'calls without outputs': (count) =>
      responses({
        input: times(count, (index) => ({ type: 'function_call', call_id: `a${index}`, name: 'f', arguments: '{}' })),
      }),
    'many thoughts': (count) =>
      responses({
        input: times(count, (index) => ({
          type: 'reasoning',
          id: `rs_${index}`,
          summary: [{ type: 'summary_text', text: 't' }],
          encrypted_content: 'e',
        })),
      }),
    'references to items': (count) =>
      responses({
        input: [
          ...times(count, (index) => ({ type: 'message', id: `m${index}`, role: 'user', content: 'a' })),
          ...times(count, (index) => ({ type: 'item_reference', id: `m${count - 1 - index}` })),
        ],
      }),
    'many unknown fields': (count) => responses(unknown(count)),
    'a dotted unknown field': (count) => responses({ [dotted(count)]: 1 }),
    'a dotted unknown field of an item': (count) =>
      responses({ input: [{ role: 'user', content: 'a', [dotted(count)]: 1 }] }),
    ...eachSchema((schema) =>
      responses({ tools: [{ type: 'function', name: 'f', parameters: schema, strict: false }] }),
    ),
    ...Object.fromEntries(
      Object.entries(schemas).map(([name, make]) => [
        `an answer by a schema with ${name}`,
        (count: number) => responses({ text: { format: { type: 'json_schema', name: 'a', schema: make(count) } } }),
      ]),
    ),
  },
};
