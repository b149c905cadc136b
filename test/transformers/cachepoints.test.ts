import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import { request } from 'undici';
import { Losses } from '../../engine/model/loss.ts';
import type { ModelRequest, Part, Turn } from '../../engine/model/request.ts';
import { cachepoints } from '../../transformers/cachepoints.ts';
import { startGateway } from '../support/gateway.ts';
import { jsonAnswer, startUpstream } from '../support/upstreams/upstream.ts';
import { requestWith, stageOf, tool } from './stage-rig.ts';

const stage = stageOf(cachepoints);
const mark = (asked: ModelRequest): ModelRequest => stage.request?.(asked, new Losses('test')) ?? asked;

const text = (words: string): Part => ({ type: 'text', text: words });
const result = (id: string): Part => ({ type: 'tool-result', id, content: [text('Sunny.')] });
const call = (id: string): Part => ({ type: 'tool-call', id, name: 'look_up', input: {} });
const turn = (role: Turn['role'], ...parts: Part[]): Turn => ({ role, parts });

/** Paths of the blocks with a mark. */
const marksOf = ({ tools, system, turns }: ModelRequest): readonly string[] => [
  ...tools.flatMap((item, index) => ('cache' in item && item.cache ? [`tools[${index}]`] : [])),
  ...system.flatMap((part, index) => (part.cache ? [`system[${index}]`] : [])),
  ...turns.flatMap(({ parts }, at) =>
    parts.flatMap((part, index) => ('cache' in part && part.cache ? [`turns[${at}][${index}]`] : [])),
  ),
];

const hosted = { type: 'hosted', wire: 'messages', kind: 'code_execution', raw: {} } as const;
const places: Readonly<Record<string, readonly [asked: Partial<ModelRequest>, marks: readonly string[]]>> = {
  'nothing to mark': [{}, []],
  'the ends of tools, system and the only message': [
    {
      tools: [tool('a'), tool('b'), hosted],
      system: [
        { type: 'text', text: 'One.' },
        { type: 'text', text: 'Two.' },
        { type: 'text', text: ' ' },
      ],
      turns: [turn('user', text('Hello'), text(''))],
    },
    ['tools[1]', 'system[1]', 'turns[0][0]'],
  ],
  'the last two messages of three': [
    {
      turns: [
        turn('user', text('a')),
        turn('assistant', text('b')),
        turn('user', text('c')),
        turn('assistant', call('1'), call('2')),
        turn('user', result('1')),
        turn('user', result('2'), text('and')),
      ],
    },
    ['turns[2][0]', 'turns[5][1]'],
  ],
  'a response that is begun': [
    {
      turns: [
        turn('user', text('a')),
        turn('assistant', text('b')),
        turn('user', text('c')),
        turn('assistant', text('{')),
      ],
    },
    ['turns[0][0]', 'turns[2][0]'],
  ],
  'what takes no mark': [
    {
      turns: [
        turn(
          'user',
          { type: 'image', source: { kind: 'url', url: 'https://a.test/' } },
          { type: 'audio', data: '', format: 'wav' },
        ),
      ],
    },
    ['turns[0][0]'],
  ],
};

for (const [name, [asked, marks]] of Object.entries(places)) {
  test(`marked: ${name}`, (t) => {
    t.deepEqual(marksOf(mark(requestWith(asked))), marks);
  });
}

const turns = [turn('user', text('Hello'))];
const ownMarks: Readonly<Record<string, Partial<ModelRequest>>> = {
  'of the request': { turns, cache: {} },
  'of a tool': { turns, tools: [{ ...tool('a'), cache: {} }] },
  'of the system prompt': { turns, system: [{ type: 'text', text: 'Hello', cache: {} }] },
  'of a part': { turns: [turn('user', { type: 'text', text: 'Hello', cache: {} })] },
  'inside a result': {
    turns: [turn('user', { type: 'tool-result', id: '1', content: [{ type: 'text', text: 'Hello', cache: {} }] })],
  },
};

for (const [name, asked] of Object.entries(ownMarks)) {
  test(`a client's own marks stay alone: ${name}`, (t) => {
    const own = requestWith(asked);
    t.is(mark(own), own);
  });
}

test('the lifetime is passed on, and another one is refused', (t) => {
  const { system } = stageOf(cachepoints, { ttl: '1h' }).request?.(
    requestWith({ system: [{ type: 'text', text: 'Hello' }] }),
    new Losses('test'),
  ) ?? { system: [] };
  t.deepEqual(system[0]?.cache, { ttl: '1h' });
  t.throws(() => stageOf(cachepoints, { ttl: '2h' }), { message: /ttl/ });
});

test('at most four marks, and the end of one request is marked in the next one', (t) => {
  const part = fc.constantFrom<Part>(text('a'), text(''), result('1'), { type: 'audio', data: '', format: 'wav' });
  const userTurns = fc.array(fc.array(part, { maxLength: 3 }), { minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(
      fc.array(userTurns, { minLength: 1, maxLength: 8 }),
      fc.array(fc.constant(tool('a'))),
      (rounds, tools) => {
        let conversation: readonly Turn[] = [];
        let last: string | undefined;
        for (const round of rounds) {
          conversation = [...conversation, ...round.map((parts) => turn('user', ...parts))];
          const asked = requestWith({ tools, system: [{ type: 'text', text: 'Be brief.' }], turns: conversation });
          const marks = marksOf(mark(asked));
          t.true(marks.length <= 4);
          if (last !== undefined) t.true(marks.includes(last), `${last} of ${marks}`);
          last = marks.findLast((at) => at.startsWith('turns'));
          conversation = [...conversation, turn('assistant', text('Yes.'), call('1'))];
        }
      },
    ),
  );
});

type Block = Readonly<Record<string, unknown>>;

/** Blocks of a Messages request in the order of its prompt: tools, system, messages. */
const blocksOf = (body: Readonly<Record<string, unknown>>): readonly Block[] => {
  const listOf = (value: unknown): readonly Block[] =>
    typeof value === 'string' ? [{ type: 'text', text: value }] : Array.isArray(value) ? value : [];
  return [
    ...listOf(body.tools),
    ...listOf(body.system),
    ...listOf(body.messages).flatMap(({ content }) => listOf(content)),
  ];
};

/** Blocks before a mark among which a cached prefix is looked for (Anthropic, "Prompt caching", November 2026). */
const lookback = 20;

/** A vendor that caches prompts up to their marks. A character counts as a token. */
const cachingVendor = () => {
  const cached = new Set<string>();
  return (body: Readonly<Record<string, unknown>>) => {
    const blocks = blocksOf(body);
    const prefixes: string[] = [];
    for (const { cache_control: _, ...block } of blocks) prefixes.push((prefixes.at(-1) ?? '') + JSON.stringify(block));
    const marked = blocks.flatMap((block, index) => (block.cache_control ? [index] : []));
    const hits = marked.flatMap((at) =>
      prefixes
        .slice(Math.max(0, at - lookback + 1), at + 1)
        .flatMap((prefix) => (cached.has(prefix) ? [prefix.length] : [])),
    );
    const written = Math.max(0, ...marked.map((at) => prefixes[at]?.length ?? 0));
    const read = Math.max(0, ...hits);
    for (const at of marked) cached.add(prefixes[at] ?? '');
    const whole = prefixes.at(-1)?.length ?? 0;
    return {
      marks: marked.length,
      usage: {
        input_tokens: whole - Math.max(read, written),
        cache_read_input_tokens: read,
        cache_creation_input_tokens: Math.max(0, written - read),
        output_tokens: 5,
      },
    };
  };
};

/** The share of all prompts of a conversation of tool calls that the vendor reads from its cache, in percent. */
const shareRead = async (t: ExecutionContext, transformers: readonly (object | string)[]) => {
  const answerTo = cachingVendor();
  let mostMarks = 0;
  const upstream = await startUpstream(({ text: sent }, count) => {
    const { marks, usage } = answerTo(JSON.parse(sent));
    mostMarks = Math.max(mostMarks, marks);
    const content = [{ type: 'tool_use', id: `toolu_${count}`, name: 'look_up', input: { about: `number ${count}` } }];
    const message = { id: `msg_${count}`, type: 'message', role: 'assistant', model: 'm', content };
    return jsonAnswer({ ...message, stop_reason: 'tool_use', stop_sequence: null, usage });
  });
  t.teardown(upstream.close);
  const gateway = await startGateway({
    LOG: false,
    Providers: [{ name: 'p', baseUrl: `${upstream.url}/v1`, apiKey: 'k', models: ['m'] }],
    transformers: [{ name: 'anthropic', provider: 'p' }, ...transformers],
  });
  t.teardown(gateway.stop);
  const messages: object[] = [
    { role: 'system', content: 'You look things up. '.repeat(20) },
    { role: 'user', content: 'Look it all up.' },
  ];
  const parameters = { type: 'object', properties: { about: { type: 'string' } } };
  let prompt = 0;
  let read = 0;
  for (let round = 0; round < 20; round += 1) {
    const reply = await request(`${gateway.baseUrl}/v1/chat/completions`, {
      method: 'POST',
      body: JSON.stringify({
        model: 'p,m',
        messages,
        tools: [{ type: 'function', function: { name: 'look_up', parameters } }],
      }),
    });
    const { usage, choices } = Object(await reply.body.json());
    prompt += usage.prompt_tokens;
    read += usage.prompt_tokens_details?.cached_tokens ?? 0;
    const { message } = choices[0];
    messages.push(message, {
      role: 'tool',
      tool_call_id: message.tool_calls[0].id,
      content: 'Nothing found. '.repeat(10),
    });
  }
  return { percent: Math.round((read / prompt) * 100), mostMarks };
};

test('a growing conversation of a Chat client is read from the cache', async (t) => {
  t.deepEqual(await shareRead(t, []), { percent: 0, mostMarks: 0 });
  const { percent, mostMarks } = await shareRead(t, ['cachepoints']);
  t.log(`${percent} % of 20 prompts read from the cache`);
  t.is(mostMarks, 4);
  t.true(percent >= 85, `${percent}`);
});
