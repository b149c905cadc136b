import test from 'ava';
import type { JsonObject } from '../../../engine/model/json/json.ts';
import type { ModelRequest, Part, Turn } from '../../../engine/model/request.ts';
import { pathless } from '../../support/pathless.ts';
import { call, encode, faultOf, model, result, text, user } from './encode.ts';

const g3 = 'gemini-3-flash-preview';
const own = (data: string) => ({ format: 'gemini', data });
const png = (at?: string): Part => ({
  type: 'image',
  source: { kind: 'base64', mediaType: 'image/png', data: 'AA==' },
  at,
});

const u = (...parts: readonly JsonObject[]): JsonObject => ({ role: 'user', parts });
const m = (...parts: readonly JsonObject[]): JsonObject => ({ role: 'model', parts });
const fc = (more: JsonObject = {}): JsonObject => ({ functionCall: { name: 'f', args: { x: 1 }, ...more } });
const fr = (response: JsonObject, more: JsonObject = {}): JsonObject => ({
  functionResponse: { name: 'f', response, ...more },
});
const ok = fr({ output: 'ok' });
const dataOf = (mimeType: string): JsonObject => ({ inlineData: { mimeType, data: 'AA==' } });
const inline = dataOf('image/png');

interface Case {
  readonly turns: readonly Turn[];
  readonly over?: Partial<ModelRequest>;
  readonly contents: readonly JsonObject[];
  readonly losses?: readonly string[];
}

const cases: Readonly<Record<string, Case>> = {
  'neighbours of one side become one': {
    turns: [user(text('a')), user(text('b')), model(text('c')), model(text('d')), user(text('e'))],
    contents: [u({ text: 'a' }, { text: 'b' }), m({ text: 'c' }, { text: 'd' }), u({ text: 'e' })],
  },
  'empty texts and turns fall away': {
    turns: [user(text('a')), model(text('')), user(text(''), text('b'))],
    contents: [u({ text: 'a' }, { text: 'b' })],
  },
  'an instruction in the middle is text of the user': {
    turns: [user(text('a')), model(text('b')), { role: 'system', parts: [text('be brief')], at: 'messages[2]' }],
    contents: [u({ text: 'a' }), m({ text: 'b' }), u({ text: 'be brief' })],
    losses: ['approximated messages[2]'],
  },
  'no turn at all': {
    turns: [],
    contents: [u({ text: '.' })],
    losses: ['approximated messages'],
  },
  'a conversation begins with the user when its first turn calls': {
    turns: [model(call('a')), user(result('a', text('ok')))],
    contents: [u({ text: '.' }), m(fc()), u(ok)],
    losses: ['approximated messages'],
  },
  'a conversation may begin with what the model said': {
    turns: [model(text('hello')), user(text('hi'))],
    contents: [m({ text: 'hello' }), u({ text: 'hi' })],
  },
  'results come first, all of one turn together, in the order of the calls': {
    turns: [
      user(text('a')),
      model(text('b'), call('x'), call('y')),
      user(text('before'), result('y', text('2'))),
      user(result('x', text('1')), text('after')),
    ],
    contents: [
      u({ text: 'a' }),
      m({ text: 'b' }, fc(), fc()),
      u(fr({ output: '1' }), fr({ output: '2' }), { text: 'before' }, { text: 'after' }),
    ],
  },
  'an instruction between call and result comes behind the result': {
    turns: [user(text('a')), model(call('x')), { role: 'system', parts: [text('s')] }, user(result('x', text('ok')))],
    contents: [u({ text: 'a' }), m(fc()), u(ok, { text: 's' })],
    losses: ['approximated messages'],
  },
  'a result that comes too late moves to its call': {
    turns: [
      user(text('a')),
      model(call('x')),
      user(text('wait')),
      model(text('b')),
      user(result('x', text('ok')), text('c')),
    ],
    contents: [u({ text: 'a' }), m(fc()), u(ok, { text: 'wait' }), m({ text: 'b' }), u({ text: 'c' })],
    losses: ['approximated re.x'],
  },
  'an unanswered call is answered with an error': {
    turns: [user(text('a')), model(call('x'), call('y')), user(result('y', text('ok')), text('b'))],
    contents: [u({ text: 'a' }), m(fc(), fc()), u(fr({ error: 'This call was not carried out.' }), ok, { text: 'b' })],
    losses: ['approximated at.x'],
  },
  'calls at the very end are answered too': {
    turns: [user(text('a')), model(call('x'))],
    contents: [u({ text: 'a' }), m(fc()), u(fr({ error: 'This call was not carried out.' }))],
    losses: ['approximated at.x'],
  },
  'a result without a call becomes text': {
    turns: [user(result('x', text('ok')))],
    contents: [u({ text: 'Result of a tool call:' }, { text: 'ok' })],
    losses: ['approximated re.x'],
  },
  'an id that comes twice is answered twice': {
    turns: [
      user(text('a')),
      ...[model(call('x')), user(result('x', text('1')))],
      ...[model(call('x')), user(result('x', text('2')))],
    ],
    contents: [u({ text: 'a' }), m(fc()), u(fr({ output: '1' })), m(fc()), u(fr({ output: '2' }))],
  },
  'ids go back where the vendor gave them, and only there': {
    turns: [
      user(text('a')),
      model(
        call('96c1su3s'),
        call('call_883098'),
        call('call_0123456789abcdef_0'),
        call('toolu_01A'),
        call('odd:id', { signature: own('S') }),
      ),
      user(
        ...['96c1su3s', 'call_883098', 'call_0123456789abcdef_0', 'toolu_01A', 'odd:id'].map((id) =>
          result(id, text('ok')),
        ),
      ),
    ],
    contents: [
      u({ text: 'a' }),
      m(fc({ id: '96c1su3s' }), fc({ id: 'call_883098' }), fc(), fc(), {
        ...fc({ id: 'odd:id' }),
        thoughtSignature: 'S',
      }),
      u(
        fr({ output: 'ok' }, { id: '96c1su3s' }),
        fr({ output: 'ok' }, { id: 'call_883098' }),
        ok,
        ok,
        fr({ output: 'ok' }, { id: 'odd:id' }),
      ),
    ],
  },
  'errors, several texts, nothing': {
    turns: [
      user(text('a')),
      model(call('x'), call('y'), call('z')),
      user(
        { type: 'tool-result', id: 'x', content: [text('bad')], isError: true },
        result('y', text('1'), text('2')),
        result('z'),
      ),
    ],
    contents: [
      u({ text: 'a' }),
      m(fc(), fc(), fc()),
      u(fr({ error: 'bad' }), fr({ output: '1\n\n2' }), fr({ output: '' })),
    ],
  },
  'an image that a tool gave follows all responses': {
    turns: [
      user(text('a')),
      model(call('x'), call('y')),
      user(result('x', text('seen'), png()), result('y', text('ok')), text('b')),
    ],
    contents: [
      u({ text: 'a' }),
      m(fc(), fc()),
      u(fr({ output: 'seen\n\n(What else it gave follows the function responses.)' }), ok, inline, { text: 'b' }),
    ],
    losses: ['approximated re.x'],
  },
  'newer models take it inside': {
    over: { model: g3 },
    turns: [user(text('a')), model(call('x', { signature: own('S') })), user(result('x', text('seen'), png()))],
    contents: [
      u({ text: 'a' }),
      m({ ...fc({ id: 'x' }), thoughtSignature: 'S' }),
      u(fr({ output: 'seen' }, { parts: [inline], id: 'x' })),
    ],
  },
  'what of a result fits inside, and what follows': {
    over: { model: g3 },
    turns: [
      user(text('a')),
      model(call('x', { id: 'abcdefgh' })),
      user(
        result(
          'abcdefgh',
          ...['image/jpeg', 'image/webp', 'image/heic'].map((mediaType): Part => {
            return { type: 'image', source: { kind: 'base64', mediaType, data: 'AA==' } };
          }),
          ...['application/pdf', 'text/plain', 'text/csv'].map((mediaType): Part => {
            return { type: 'document', source: { kind: 'base64', mediaType, data: 'AA==' } };
          }),
          { type: 'document', source: { kind: 'url', url: 'gs://b/i' } },
        ),
      ),
    ],
    contents: [
      u({ text: 'a' }),
      m({ ...fc({ id: 'abcdefgh' }), thoughtSignature: 'skip_thought_signature_validator' }),
      u(
        fr(
          { output: '(What else it gave follows the function responses.)' },
          { id: 'abcdefgh', parts: ['image/jpeg', 'image/webp', 'application/pdf', 'text/plain'].map(dataOf) },
        ),
        dataOf('image/heic'),
        dataOf('text/csv'),
        { fileData: { fileUri: 'gs://b/i' } },
      ),
    ],
    losses: ['approximated at.x.thought_signature', 'approximated re.abcdefgh'],
  },
  'a marked result': {
    turns: [
      user(text('a')),
      model(call('x')),
      user({ type: 'tool-result', id: 'x', content: [text('ok')], cache: {}, at: 're.x' }),
    ],
    contents: [u({ text: 'a' }), m(fc()), u(ok)],
    losses: ['dropped re.x.cache_control'],
  },
  'three calls with one id, and a result before them': {
    turns: [
      user(result('x', text('early'))),
      model(call('x'), call('x'), call('x')),
      user(result('x', text('1')), result('x', text('2')), result('x', text('3'))),
    ],
    contents: [
      u({ text: 'Result of a tool call:' }, { text: 'early' }),
      m(fc(), fc(), fc()),
      u(fr({ output: '1' }), fr({ output: '2' }), fr({ output: '3' })),
    ],
    losses: ['approximated re.x'],
  },
  'arguments that are no object': {
    turns: [
      user(text('a')),
      model(call('x', { input: '{"x":' }), call('y', { input: '' })),
      user(result('x'), result('y')),
    ],
    contents: [
      u({ text: 'a' }),
      m({ functionCall: { name: 'f', args: {} } }, { functionCall: { name: 'f', args: {} } }),
      u(fr({ output: '' }), fr({ output: '' })),
    ],
    losses: ['approximated at.x.input'],
  },
  "reasoning: this vendor's goes back where it was, foreign and unsigned falls away": {
    turns: [
      user(text('a')),
      model(
        { type: 'thinking', text: 't', signature: own('S+/=') },
        { type: 'thinking', text: 'u', signature: { format: 'messages', data: 'S' }, at: 'm.1' },
        { type: 'thinking', text: 'v', at: 'm.2' },
        { type: 'redacted-thinking', signature: { format: 'messages', data: 'S' }, at: 'm.3' },
        text('b'),
      ),
      user(text('c')),
    ],
    contents: [
      u({ text: 'a' }),
      m({ text: 't', thought: true, thoughtSignature: 'S+/=' }, { text: 'b' }),
      u({ text: 'c' }),
    ],
    losses: ['dropped m.1', 'dropped m.2', 'dropped m.3'],
  },
  'a seal goes back onto the text before it': {
    turns: [
      user(text('a')),
      model(text('b'), { type: 'redacted-thinking', signature: own('S') }, call('x')),
      user(result('x', text('ok'))),
    ],
    contents: [u({ text: 'a' }), m({ text: 'b', thoughtSignature: 'S' }, fc()), u(ok)],
  },
  'or onto the text behind it': {
    turns: [user(text('a')), model({ type: 'redacted-thinking', signature: own('S') }, text('b')), user(text('c'))],
    contents: [u({ text: 'a' }), m({ text: 'b', thoughtSignature: 'S' }), u({ text: 'c' })],
  },
  'or stands on an empty text': {
    turns: [
      user(text('a')),
      model(
        text('b'),
        { type: 'redacted-thinking', signature: own('S') },
        { type: 'redacted-thinking', signature: own('T') },
      ),
      user(text('c')),
    ],
    contents: [
      u({ text: 'a' }),
      m({ text: 'b', thoughtSignature: 'S' }, { text: '', thoughtSignature: 'T' }),
      u({ text: 'c' }),
    ],
  },
  "calls of another vendor in the current turn get the vendor's stand-in, the first of each group": {
    over: { model: g3 },
    turns: [
      user(text('old')),
      ...[model(call('o')), user(result('o', text('ok')))],
      user(text('new')),
      ...[model(call('x'), call('y')), user(result('x', text('ok')), result('y', text('ok')))],
      ...[model(call('z', { signature: { format: 'chat', data: 'S' } })), user(result('z', text('ok')))],
    ],
    contents: [
      u({ text: 'old' }),
      m({ ...fc(), thoughtSignature: 'skip_thought_signature_validator' }),
      u(ok, { text: 'new' }),
      m({ ...fc(), thoughtSignature: 'skip_thought_signature_validator' }, fc()),
      u(ok, ok),
      m({ ...fc(), thoughtSignature: 'skip_thought_signature_validator' }),
      u(ok),
    ],
    losses: [
      'approximated at.o.thought_signature',
      'approximated at.x.thought_signature',
      'dropped at.z.signature',
      'approximated at.z.thought_signature',
    ],
  },
  'what another format alone knows falls away; what this one knows stays': {
    turns: [
      user(text('a'), { type: 'opaque', wire: 'messages', raw: { type: 'x' }, at: 'm.0' }),
      model({ type: 'opaque', wire: 'gemini', raw: { executableCode: { code: '1' } } }),
      user(text('b')),
    ],
    contents: [u({ text: 'a' }), m({ executableCode: { code: '1' } }), u({ text: 'b' })],
    losses: ['dropped m.0'],
  },
  'a call in a turn of the user falls away': {
    turns: [user(text('a'), { ...call('x'), at: 'm.0' })],
    contents: [u({ text: 'a' })],
    losses: ['dropped m.0'],
  },
};

for (const [title, { turns, over, contents, losses }] of Object.entries(cases)) {
  test(title, (t) => {
    const encoded = encode({ turns, ...over });
    t.deepEqual(encoded.body.contents, contents);
    t.deepEqual(encoded.losses, losses ?? []);
    const added = encode({ turns: pathless(turns), ...over });
    t.deepEqual(added.body.contents, contents);
    const atTurns = (losses ?? []).map((loss) => loss.replace(/ \w+(?:\.\w+|\[\d\])?/, ' messages'));
    t.deepEqual(added.losses, [...new Set(atTurns)]);
  });
}

test('an older turn keeps its placeholder: sent turns never change', (t) => {
  const turns = [user(text('a')), model(call('x')), user(result('x', text('ok'))), model(text('b')), user(text('c'))];
  const { body, losses } = encode({ model: g3, turns });
  const sealed = m({ ...fc(), thoughtSignature: 'skip_thought_signature_validator' });
  t.deepEqual(body.contents, [u({ text: 'a' }), sealed, u(ok), m({ text: 'b' }), u({ text: 'c' })]);
  t.deepEqual(losses, ['approximated at.x.thought_signature']);
});

test('reminders beside results do not end the current turn', (t) => {
  const turns = [
    user(text('a')),
    model(call('x')),
    user(result('x', text('ok')), text('reminder')),
    model(call('y')),
    user(result('y', text('ok'))),
  ];
  t.deepEqual(encode({ model: g3, turns }).losses, [
    'approximated at.x.thought_signature',
    'approximated at.y.thought_signature',
  ]);
});

const content: Readonly<
  Record<string, readonly [part: Part, wire: readonly JsonObject[], losses?: readonly string[]]>
> = {
  'an image': [png(), [inline]],
  'image/jpg is image/jpeg': [
    { type: 'image', source: { kind: 'base64', mediaType: 'image/jpg', data: 'AA==' } },
    [{ inlineData: { mimeType: 'image/jpeg', data: 'AA==' } }],
  ],
  "an image's detail": [
    { ...png(), type: 'image', source: { kind: 'url', url: 'gs://b/i.png' }, detail: 'high', at: 'p' },
    [{ fileData: { mimeType: 'image/png', fileUri: 'gs://b/i.png' } }],
    ['dropped p.detail'],
  ],
  "a file in the vendor's own store": [
    { type: 'image', source: { kind: 'url', url: 'https://generativelanguage.googleapis.com/v1beta/files/abc' } },
    [{ fileData: { fileUri: 'https://generativelanguage.googleapis.com/v1beta/files/abc' } }],
  ],
  'its id': [
    { type: 'document', source: { kind: 'file', id: 'files/abc' } },
    [{ fileData: { fileUri: 'https://generativelanguage.googleapis.com/v1beta/files/abc' } }],
  ],
  'a video': [
    { type: 'document', source: { kind: 'url', url: 'https://www.youtube.com/watch?v=1' } },
    [{ fileData: { fileUri: 'https://www.youtube.com/watch?v=1' } }],
  ],
  'a recording': [
    { type: 'audio', format: 'wav', data: 'AA==' },
    [{ inlineData: { mimeType: 'audio/wav', data: 'AA==' } }],
  ],
  'a document': [
    {
      type: 'document',
      source: { kind: 'base64', mediaType: 'application/pdf', data: 'AA==' },
      title: 'T',
      cite: true,
      at: 'p',
    },
    [{ text: 'T' }, { inlineData: { mimeType: 'application/pdf', data: 'AA==' } }],
    ['dropped p.citations', 'approximated p.title'],
  ],
  'a document of text': [
    { type: 'document', source: { kind: 'text', text: 'body' }, title: 'T', context: 'C', at: 'p' },
    [{ text: 'T\nC\n\nbody' }],
    ['approximated p'],
  ],
  'a document of JSON is one of text': [
    { type: 'document', source: { kind: 'base64', mediaType: 'application/json; charset=utf-8', data: 'e30=' } },
    [{ inlineData: { mimeType: 'text/plain', data: 'e30=' } }],
  ],
  'a document of parts': [
    { type: 'document', source: { kind: 'content', parts: [text('1'), png()] } },
    [{ text: '1' }, inline],
  ],
  'a search result': [
    { type: 'search-result', source: 'u', title: 'T', content: [{ type: 'text', text: 'c' }], at: 'p' },
    [{ text: 'T\nu' }, { text: 'c' }],
    ['approximated p'],
  ],
  'a refusal': [{ type: 'refusal', text: 'no', at: 'p' }, [{ text: 'no' }], ['approximated p']],
  'marks and members of other formats': [
    {
      type: 'text',
      text: 'a',
      at: 'p',
      cache: {},
      citations: [{ type: 'url', url: 'u' }],
      extra: { wire: 'chat', at: 'q', fields: { odd: 1, none: null } },
    },
    [{ text: 'a' }],
    ['dropped p.cache_control', 'dropped q.odd', 'dropped p.citations'],
  ],
};

for (const [title, [part, wire, losses]] of Object.entries(content)) {
  test(`content: ${title}`, (t) => {
    const encoded = encode({ turns: [user(part)] });
    t.deepEqual(encoded.body.contents, [{ role: 'user', parts: wire }]);
    t.deepEqual(encoded.losses, losses ?? []);
    const added = encode({ turns: [{ ...user({ ...part, at: undefined }), at: 't' }] });
    t.deepEqual(added.losses, losses?.map((loss) => loss.replace(' p', ' t')) ?? []);
  });
}

const refused: Readonly<Record<string, Part>> = {
  gif: { type: 'image', source: { kind: 'base64', mediaType: 'image/gif', data: 'AA==' }, at: 'p' },
  'an image elsewhere': { type: 'image', source: { kind: 'url', url: 'https://example.org/i.png' }, at: 'p' },
  'a look-alike of the store': { type: 'image', source: { kind: 'url', url: 'https://example.org/gs://x' }, at: 'p' },
  'a file of another vendor': { type: 'image', source: { kind: 'file', id: 'file-123' }, at: 'p' },
  "another vendor's file with a name like ours": {
    type: 'image',
    source: { kind: 'file', id: 'files/abc', wire: 'messages' },
    at: 'p',
  },
  'a document of a kind it does not read': {
    type: 'document',
    source: { kind: 'base64', mediaType: 'application/zip', data: 'AA==' },
    at: 'p',
  },
};

for (const [title, part] of Object.entries(refused)) {
  test(`refused: ${title}`, (t) => {
    t.like(faultOf({ turns: pathless([user(part)]) }), { kind: 'unsupported', param: 'messages' });
    t.like(faultOf({ turns: [user(part)] }), { kind: 'unsupported', param: 'p' });
    t.like(faultOf({ turns: [user(text('a')), model(call('x')), user(result('x', part))] }), {
      kind: 'unsupported',
      param: 'p',
    });
  });
}

test("a turn's name and members of other formats are losses", (t) => {
  const turns: readonly Turn[] = [
    {
      role: 'user',
      parts: [text('a')],
      name: 'Ann',
      at: 'messages[0]',
      extra: { wire: 'chat', at: 'messages[0]', fields: { odd: 1 } },
    },
  ];
  t.deepEqual(encode({ turns }).losses, ['dropped messages[0].name', 'dropped messages[0].odd']);
});
