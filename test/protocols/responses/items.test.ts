import test from 'ava';
import type { ResponseInputItem, Tool } from 'openai/resources/responses/responses';
import type { JsonObject } from '../../../engine/model/json/json.ts';
import type { ItemType, ToolType } from '../../../protocols/responses/decode-request/schema-items.ts';
import { responsesClient } from '../../../protocols/responses/index.ts';
import { convert, targets } from '../../conversions/losses/pairs.ts';
import { itemCases, type Outcome, toolCases } from './item-cases.ts';

/** Types of the vendor's client library that the tables lack; the compiler requires none. */
const missing: Record<Exclude<NonNullable<ResponseInputItem['type']>, ItemType>, never> &
  Record<Exclude<Tool['type'], ToolType | `web_search${string}`>, never> = {};

test('the tables know every type of the client library', (t) => t.deepEqual(missing, {}));

const question = { role: 'user', content: 'q' } as const;
const others = targets.filter(({ protocol }) => protocol.wire !== 'responses');
const own = targets.filter(({ protocol }) => protocol.wire === 'responses');

const bodyWith = (items: readonly JsonObject[]): JsonObject => ({
  model: 'm',
  input: [question, ...items],
  tools: [{ type: 'custom', name: 'p' }],
});

for (const [type, { items, item = 0, outcome, holds = [] }] of Object.entries(itemCases)) {
  for (const target of others) {
    test(`${type} → ${target.name}: ${typeof outcome === 'string' ? outcome : 'refused'}`, (t) => {
      const body = bodyWith(items);
      const got = convert(responsesClient, body, target);
      if (typeof outcome !== 'string') {
        t.deepEqual(got, outcome);
        return;
      }
      if ('refused' in got) throw new Error(`refused: ${got.refused}`);
      const text = JSON.stringify(got.body);
      const paths = got.losses.map(({ path }) => path);
      const at = `input[${item + 1}]`;
      t.is(
        paths.includes(at) && got.losses.some((loss) => loss.path === at && loss.outcome === 'dropped'),
        outcome === 'lost',
      );
      for (const part of holds)
        t.true(text.includes(part) || text.includes(JSON.stringify(part).slice(1, -1)), `${part}: ${text}`);
    });
  }

  for (const target of own) {
    test(`${type} → ${target.name}: written again as it came`, (t) => {
      const got = convert(responsesClient, bodyWith(items), target);
      if ('refused' in got) throw new Error(`refused: ${got.refused}`);
      const input: unknown = got.body.input;
      if (!Array.isArray(input)) throw new Error('no input');
      if (type === 'configuration_update') {
        t.deepEqual(got.body.text, { format: { type: 'json_object' } });
        t.is(input.length, 1);
      } else if (type === 'item_reference') t.is(input.length, 2);
      else if (stored.has(type)) t.deepEqual(input.slice(1), plain(items));
      else t.deepEqual(input[item + 1], items[item]);
      t.deepEqual(
        got.losses.filter(({ outcome: lost }) => lost === 'dropped').filter(({ path }) => path !== 'tool_choice'),
        [],
      );
    });
  }
}

/** Types whose items are written from the conversation: their own members have one form. */
const stored: ReadonlySet<string> = new Set(['message', 'reasoning']);

const plain = (items: readonly JsonObject[]): unknown[] =>
  items.map(({ type, role, content, ...more }) =>
    type === 'reasoning'
      ? { type, ...more }
      : { role, content: [{ type: role === 'user' ? 'input_text' : 'output_text', text: content }] },
  );

const pending: readonly ItemType[] = [
  'multi_agent_call',
  'multi_agent_call_output',
  'mcp_approval_request',
  'mcp_approval_response',
];

for (const type of pending) {
  test(`${type}: history where something follows`, (t) => {
    for (const target of others) {
      const got = convert(
        responsesClient,
        bodyWith([...itemCases[type].items, { role: 'user', content: 'go on' }]),
        target,
      );
      if ('refused' in got) throw new Error(`refused: ${got.refused}`);
      t.true(
        got.losses.some(({ path, outcome }) => path === 'input[1]' && outcome === 'dropped'),
        target.name,
      );
    }
  });
}

const sealed = (part: JsonObject): JsonObject => ({
  type: 'agent_message',
  author: '/root',
  recipient: '/root/test',
  content: [{ type: 'input_text', text: 'NEW_TASK' }, part],
});

const refusedItems: readonly (readonly [string, readonly JsonObject[], string, RegExp])[] = [
  ['an unknown item', [{ type: 'something_new', text: 'do this' }], 'input[1]', /'something_new'/],
  ['an unknown item with tools', [{ type: 'more_tools', tools: [] }], 'input[1]', /'more_tools'/],
  [
    "a part of a task that the vendor's models alone can read",
    [sealed({ type: 'encrypted_content', encrypted_content: 'gAAAAABpX_1b-2c=' })],
    'input[1].content[1]',
    /its vendor alone can read this part of the task/,
  ],
  ['an unknown part of a task', [sealed({ type: 'input_film' })], 'input[1].content[1]', /task/],
  [
    'an unknown tool in an item',
    [{ type: 'additional_tools', role: 'developer', tools: [{ type: 'custom', name: 'p' }, { type: 'robot' }] }],
    'input[1].tools[1]',
    /'robot'/,
  ],
];

for (const [title, items, path, why] of refusedItems) {
  test(`refused before anything is sent: ${title}`, (t) => {
    const body = bodyWith(items);
    const field = responsesClient.ownWireField?.(body);
    t.is(field?.path, path);
    t.regex(field?.why ?? '', why);
    for (const target of others) t.deepEqual(convert(responsesClient, body, target), { refused: path }, target.name);
    for (const target of own) t.false('refused' in convert(responsesClient, body, target), target.name);
  });
}

/** Vendors' counterparts of hosted tools. */
const counterparts = /googleSearch|codeExecution|web_search|"web"|search_settings|web_search_options/;

for (const [type, { tool, outcome, holds = [] }] of Object.entries(toolCases)) {
  for (const target of others) {
    test(`tool ${type} → ${target.name}: ${outcome}`, (t) => {
      const got = convert(responsesClient, { ...bodyWith([]), tools: [tool, { type: 'function', name: 'f' }] }, target);
      if ('refused' in got) throw new Error(`refused: ${got.refused}`);
      const text = JSON.stringify(got.body);
      const lost = got.losses.some(({ path, outcome: how }) => path === 'tools[0]' && how === 'dropped');
      t.is(lost, outcome === 'lost' && !counterparts.test(text));
      for (const part of holds) t.true(text.includes(part), `${part}: ${text}`);
    });
  }

  for (const target of own) {
    test(`tool ${type} → ${target.name}: written again as it came`, (t) => {
      const got = convert(responsesClient, { ...bodyWith([]), tools: [tool] }, target);
      t.like(got, { body: { tools: [tool] }, losses: [] });
    });
  }
}

test('an unknown tool is refused elsewhere', (t) => {
  const tools = [
    { type: 'function', name: 'f' },
    { type: 'namespace', name: 'n', tools: [{ type: 'robot' }] },
  ];
  for (const target of others) {
    t.deepEqual(convert(responsesClient, { ...bodyWith([]), tools }, target), {
      refused: 'tools[1].tools[0]',
    } satisfies Outcome);
  }
});
