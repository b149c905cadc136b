import test from 'ava';
import type { JsonObject } from '../../../engine/model/json/json.ts';
import type { HostedTool, ModelRequest, Tool, WebSearchTool } from '../../../engine/model/request.ts';
import { call, encode, faultOf, model, result, text, user } from './encode.ts';

const fn = (name: string, more: Partial<Extract<Tool, { type: 'function' }>> = {}): Tool => ({
  type: 'function',
  name,
  at: `tools.${name}`,
  ...more,
});
const search: WebSearchTool = { type: 'web-search', raw: { wire: 'messages', value: {} }, at: 'tools.search' };
const hosted = (kind: string): HostedTool => ({
  type: 'hosted',
  wire: 'messages',
  kind,
  raw: { type: kind },
  at: `tools.${kind}`,
});
const declared = (...declarations: readonly JsonObject[]): JsonObject => ({ functionDeclarations: declarations });
const f = declared({ name: 'f' });
const calling = (mode: string, allowedFunctionNames?: readonly string[]): JsonObject => ({
  functionCallingConfig: { mode, ...(allowedFunctionNames && { allowedFunctionNames }) },
});
const g3 = 'gemini-3-pro-preview';

interface Case {
  readonly over: Partial<ModelRequest>;
  readonly tools: readonly JsonObject[] | undefined;
  readonly toolConfig?: JsonObject;
  readonly losses?: readonly string[];
}

const cases: Readonly<Record<string, Case>> = {
  'all functions are declared by one object': {
    over: { tools: [fn('f', { description: 'does f' }), fn('g', { description: '' })] },
    tools: [declared({ name: 'f', description: 'does f' }, { name: 'g' })],
  },
  'parameters as JSON Schema': {
    over: {
      tools: [fn('f', { parameters: { $schema: 's', properties: { a: { const: 1 } }, additionalProperties: false } })],
    },
    tools: [
      declared({
        name: 'f',
        parametersJsonSchema: {
          type: 'object',
          properties: { a: { enum: [1] } },
          additionalProperties: false,
        },
      }),
    ],
  },
  "parameters as JSON Schema, with the API's keywords alone": {
    over: {
      tools: [
        fn('f', {
          parameters: {
            $schema: 's',
            type: 'object',
            definitions: { d: { type: 'string', pattern: '^a' } },
            properties: {
              n: { type: 'number', exclusiveMinimum: 0, maximum: 9, exclusiveMaximum: 10 },
              r: { $ref: '#/definitions/d' },
              l: { type: 'array', items: { type: 'string', minLength: 1 }, prefixItems: [{ const: 'x' }] },
              a: { allOf: [{ type: 'string' }, { description: 'both' }], default: 'z' },
              pattern: { type: 'string' },
            },
          },
        }),
      ],
    },
    tools: [
      declared({
        name: 'f',
        parametersJsonSchema: {
          type: 'object',
          properties: {
            n: { type: 'number', minimum: 0, maximum: 9 },
            r: { $ref: '#/$defs/d' },
            l: { type: 'array', items: { type: 'string' }, prefixItems: [{ enum: ['x'] }] },
            a: { type: 'string', description: 'both' },
            pattern: { type: 'string' },
          },
          $defs: { d: { type: 'string' } },
        },
      }),
    ],
    losses: [
      'approximated tools.f.parameters.properties.n.exclusiveMinimum',
      'approximated tools.f.parameters.properties.n.exclusiveMaximum',
      'dropped tools.f.parameters.properties.l.items.minLength',
      'dropped tools.f.parameters.properties.a.default',
      'dropped tools.f.parameters.$defs.d.pattern',
    ],
  },
  'parameters in the subset, for older models': {
    over: {
      model: 'gemini-2.0-flash',
      tools: [
        fn('f', { parameters: { $schema: 's', properties: { a: { const: 'x' } }, additionalProperties: false } }),
      ],
    },
    tools: [
      declared({ name: 'f', parameters: { type: 'OBJECT', properties: { a: { type: 'STRING', enum: ['x'] } } } }),
    ],
    losses: ['dropped tools.f.parameters.additionalProperties'],
  },
  'no arguments, no parameters': {
    over: {
      tools: [
        fn('f', { parameters: { type: 'object', properties: {}, additionalProperties: false } }),
        fn('g', { parameters: {} }),
      ],
    },
    tools: [declared({ name: 'f' }, { name: 'g' })],
  },
  'a tool called with text is a function with one text': {
    over: {
      tools: [
        {
          type: 'custom',
          name: 'patch',
          description: 'D',
          format: { type: 'grammar', definition: 'start: x' },
          at: 'tools[0]',
        },
      ],
    },
    tools: [
      declared({
        name: 'patch',
        description: 'D\n\n`input` must follow this grammar:\nstart: x',
        parametersJsonSchema: { type: 'object', properties: { input: { type: 'string' } }, required: ['input'] },
      }),
    ],
    losses: ['approximated tools[0]'],
  },
  'what else functions bring along': {
    over: {
      tools: [
        fn('f', {
          strict: true,
          cache: {},
          extra: { wire: 'messages', at: 'tools.f', fields: { defer_loading: true } },
        }),
        fn('g', { strict: false }),
      ],
    },
    tools: [declared({ name: 'f' }, { name: 'g' })],
    losses: ['dropped tools.f.cache_control', 'dropped tools.f.defer_loading', 'dropped tools.f.strict'],
  },
  'a web search': {
    over: {
      tools: [
        { ...search, maxUses: 3, allowedDomains: ['a'], blockedDomains: ['b'], userLocation: {}, contextSize: 'low' },
      ],
    },
    tools: [{ googleSearch: {} }],
    losses: [
      'dropped tools.search.max_uses',
      'dropped tools.search.allowed_domains',
      'dropped tools.search.blocked_domains',
      'dropped tools.search.user_location',
      'dropped tools.search.search_context_size',
    ],
  },
  'older models take no search beside functions': {
    over: { tools: [fn('f'), search] },
    tools: [f],
    losses: ['dropped tools.search'],
  },
  'nor functions beside a search that is forced': {
    over: { tools: [fn('f'), search], toolChoice: { type: 'tool', name: 'web_search' } },
    tools: [{ googleSearch: {} }],
    losses: ['dropped tools.f', 'dropped tool_choice'],
  },
  'newer ones take both': {
    over: { model: g3, tools: [fn('f'), search] },
    tools: [f, { googleSearch: {} }],
    toolConfig: { includeServerSideToolInvocations: true },
  },
  'tools of other vendors': {
    over: {
      tools: [
        hosted('web_fetch_20250910'),
        hosted('code_execution_20250825'),
        hosted('code_interpreter'),
        hosted('mcp'),
      ],
    },
    tools: [{ urlContext: {} }, { codeExecution: {} }],
    losses: [
      'approximated tools.web_fetch_20250910',
      'approximated tools.code_execution_20250825',
      'approximated tools.code_interpreter',
      'dropped tools.mcp',
    ],
  },
  auto: { over: { tools: [fn('f')], toolChoice: { type: 'auto' } }, tools: [f], toolConfig: calling('AUTO') },
  none: { over: { tools: [fn('f')], toolChoice: { type: 'none' } }, tools: [f], toolConfig: calling('NONE') },
  'none, also for tools of the vendor': {
    over: { model: g3, tools: [fn('f'), search], toolChoice: { type: 'none' } },
    tools: [f],
    toolConfig: calling('NONE'),
    losses: ['dropped tools.search'],
  },
  required: { over: { tools: [fn('f')], toolChoice: { type: 'required' } }, tools: [f], toolConfig: calling('ANY') },
  'one tool': {
    over: { tools: [fn('f'), fn('g h')], toolChoice: { type: 'tool', name: 'g h' } },
    tools: [declared({ name: 'f' }, { name: 'g_h' })],
    toolConfig: calling('ANY', ['g_h']),
  },
  'some tools, one of which must be called': {
    over: { tools: [fn('f'), fn('g')], toolChoice: { type: 'allowed', required: true, names: ['g'] } },
    tools: [declared({ name: 'f' }, { name: 'g' })],
    toolConfig: calling('ANY', ['g']),
  },
  'some tools that may be called': {
    over: { tools: [fn('f'), fn('g')], toolChoice: { type: 'allowed', required: false, names: ['f'] } },
    tools: [f],
    toolConfig: calling('AUTO'),
    losses: ['approximated tool_choice', 'dropped tools.g'],
  },
  'some tools that may be called, none of which is there': {
    over: { tools: [hosted('mcp')], toolChoice: { type: 'allowed', required: false, names: ['x'] } },
    tools: undefined,
    losses: ['dropped tools.mcp'],
  },
  'some tools, one of which must be called, of which none can be forced': {
    over: { model: g3, tools: [search], toolChoice: { type: 'allowed', required: true, names: ['web_search'] } },
    tools: [{ googleSearch: {} }],
    losses: ['dropped tool_choice'],
  },
  'a choice without tools': {
    over: { toolChoice: { type: 'required' } },
    tools: undefined,
    losses: ['dropped tool_choice'],
  },
  'one call at a time': {
    over: { tools: [fn('f')], parallelToolCalls: false },
    tools: [f],
    losses: ['dropped parallel_tool_calls'],
  },
  'calls at once are no loss': { over: { tools: [fn('f')], parallelToolCalls: true }, tools: [f] },
};

for (const [title, { over, tools, toolConfig, losses }] of Object.entries(cases)) {
  test(title, (t) => {
    const encoded = encode(over);
    t.deepEqual(encoded.body.tools, tools);
    t.deepEqual(encoded.body.toolConfig, toolConfig);
    t.deepEqual(encoded.losses, losses ?? []);
  });
}

test('the form of schemas is an option', (t) => {
  const tools = [fn('f', { parameters: { type: 'object', properties: { a: { type: 'string' } } } })];
  t.deepEqual(encode({ tools }, { schema: 'openapi' }).body.tools, [
    declared({ name: 'f', parameters: { type: 'OBJECT', properties: { a: { type: 'STRING' } } } }),
  ]);
  t.deepEqual(encode({ model: 'my-tuned', tools }, { schema: 'json' }).body.tools, [
    declared({ name: 'f', parametersJsonSchema: { type: 'object', properties: { a: { type: 'string' } } } }),
  ]);
});

test('alternatives at the root of parameters become one object', (t) => {
  const parameters = {
    anyOf: [
      { properties: { a: { type: 'string' }, b: { type: 'string' } }, required: ['a', 'b'] },
      { properties: { a: { type: 'string' }, c: { type: 'string' } }, required: ['a', 'c'] },
    ],
  };
  const { body, losses } = encode({ tools: [fn('f', { parameters })] }, { schema: 'openapi' });
  const string = { type: 'STRING' };
  t.deepEqual(body.tools, [
    declared({
      name: 'f',
      parameters: { type: 'OBJECT', properties: { a: string, b: string, c: string }, required: ['a'] },
    }),
  ]);
  t.deepEqual(losses, ['approximated tools.f.parameters.anyOf']);
});

const wireName = /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/;
const oddNames = [
  '1st',
  '-x',
  'a.b',
  'a:b',
  'mcp server/tool',
  '',
  'ü',
  'x'.repeat(80),
  '9'.repeat(64),
  `${'9'.repeat(64)}a`,
];

test('names are safe, different, the same in history and choice, and come back', (t) => {
  const tools = oddNames.map((name) => fn(name));
  const turns = oddNames.flatMap((name, index) => [
    user(text('a')),
    model(call(`id${index}`, { name })),
    user(result(`id${index}`, text('ok'))),
  ]);
  const { body, names } = encode({ tools, turns });
  const wire =
    JSON.stringify(body.tools)
      .match(/"name":"[^"]*"/g)
      ?.map((found) => found.slice(8, -1)) ?? [];
  t.is(new Set(wire).size, oddNames.length);
  for (const name of wire) t.regex(name, wireName);
  t.deepEqual(
    wire.map((name) => names.model(name)),
    oddNames,
  );
  const inHistory = JSON.stringify(body.contents)
    .match(/"functionCall":\{"name":"[^"]*"/g)
    ?.map((found) => found.slice(24, -1));
  t.deepEqual(inHistory, wire);
});

const refused: Readonly<Record<string, readonly [over: Partial<ModelRequest>, param: string]>> = {
  'a tool that the client runs, without a schema': [{ tools: [hosted('bash_20250124')] }, 'tools.bash_20250124'],
  'a forced tool of another vendor': [{ tools: [hosted('mcp')], toolChoice: { type: 'required' } }, 'tool_choice'],
  'the same by name': [{ tools: [fn('f'), hosted('mcp')], toolChoice: { type: 'tool', name: 'mcp' } }, 'tool_choice'],
  'the same in words of another format': [
    { tools: [fn('f')], toolChoice: { type: 'opaque', wire: 'responses', value: { type: 'mcp' } } },
    'tool_choice',
  ],
};

for (const [title, [over, param]] of Object.entries(refused)) {
  test(`refused: ${title}`, (t) => t.like(faultOf(over), { kind: 'unsupported', param }));
}
