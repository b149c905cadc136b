import test from 'ava';
import { deviationsIn, examineAt, healedBy, sourceOf } from '../../support/examined.ts';
import { chatVendor } from '../../support/vendors/chat.ts';
import type { ChatBody } from '../../support/vendors/chat-wire.ts';
import { geminiVendor } from '../../support/vendors/gemini.ts';
import { messagesVendor } from '../../support/vendors/messages.ts';
import { responsesVendor } from '../../support/vendors/responses.ts';
import { type Asked, type Scripted, scripted } from '../../support/vendors/script.ts';
import { serveVendor } from '../../support/vendors/serve-vendor.ts';
import type { Vendor } from '../../support/vendors/vendor.ts';

/** A vendor whose streams are written otherwise. */
const streaming = <Body>(vendor: Vendor<Body>, edit: (text: string) => string): Vendor<Body> => ({
  ...vendor,
  answer(body, url, script) {
    const answer = vendor.answer(body, url, script);
    return answer.type === 'json' ? answer : { type: 'stream', pieces: [edit(answer.pieces.join(''))] };
  },
});

/** A vendor of Chat Completions that says something else. */
const saying = (script: (asked: Asked, body: ChatBody) => Scripted): Vendor<ChatBody> => ({
  ...chatVendor,
  answer: (body, url) => chatVendor.answer(body, url, (asked) => script(asked, body)),
});

/** A vendor of Chat Completions that refuses something. */
const refusingIf = (isRefused: (body: ChatBody) => boolean, status: number, body: unknown): Vendor<ChatBody> => ({
  ...chatVendor,
  refusal: (asked) => (isRefused(asked) ? { status, body } : undefined),
});

/** The first half of a stream, up to the end of a record. */
const withoutEnd = (text: string): string => {
  const half = text.length >> 1;
  return text.slice(0, Math.max(text.lastIndexOf('\n\n', half) + 2, text.lastIndexOf('\r\n\r\n', half) + 4));
};
const withoutCalls = ({ calls: _, ...rest }: Scripted): Scripted => ({ text: 'It is sunny.', ...rest });
const hasPicture = (body: ChatBody): boolean => JSON.stringify(body.messages).includes('image_url');
const isNobody = ({ model }: ChatBody): boolean => model.includes('no-such-model');

interface Plant {
  /** Serves the vendor with its fault. */
  readonly serve: (key: string) => ReturnType<typeof serveVendor>;
  readonly format?: string;
  readonly options?: object;
  readonly model?: string;
  /** The check that names it. */
  readonly named: string;
  readonly says: RegExp;
  /** A setting heals it. */
  readonly isHealed?: true;
}

const plant = <Body>(
  vendor: Vendor<Body>,
  named: string,
  says: RegExp,
  more: Omit<Plant, 'serve' | 'named' | 'says'> = {},
): Plant => ({
  serve: (key) => serveVendor(vendor, key),
  named,
  says,
  ...more,
});

const plants: Readonly<Record<string, Plant>> = {
  'chat: a stream without an end': plant(streaming(chatVendor, withoutEnd), 'stream', /ended its answer before/),
  'messages: a stream without an end': plant(
    streaming(messagesVendor, withoutEnd),
    'stream',
    /ended its answer before/,
    {
      format: 'anthropic',
      model: 'claude-sonnet-4-5',
    },
  ),
  'responses: a stream without an end': plant(
    streaming(responsesVendor, withoutEnd),
    'stream',
    /ended its answer before/,
    { options: { api: 'responses' } },
  ),
  'gemini: a stream without an end': plant(streaming(geminiVendor, withoutEnd), 'stream', /ended its answer before/, {
    format: 'gemini',
    model: 'gemini-3-flash-preview',
  }),
  'an error in place of a stream': plant(
    streaming(chatVendor, () => 'data: {"error":{"message":"Out of luck.","type":"server_error"}}\n\n'),
    'stream',
    /Out of luck/,
  ),
  'an empty answer': plant(
    saying(({ text }) => (text.includes('hello') ? { text: '' } : { text: 'Hello.' })),
    'stream',
    /answer is empty/,
  ),
  'a record of another kind': plant(
    streaming(chatVendor, (text) => text.replace('"object":"chat.completion.chunk"', '"object":"chunk"')),
    'wire format',
    /record 1: object/,
  ),
  'a stream without counts': plant(
    streaming(chatVendor, (text) => text.replace(/data: [^\n]*"choices":\[\][^\n]*\n\n/, '')),
    'usage',
    /no count of input and output tokens/,
  ),
  'arguments that are not closed': plant(
    streaming(chatVendor, (text) => text.replaceAll('"arguments":"}"', '"arguments":""')),
    'tool',
    /arguments of get_weather are no JSON object/,
    { isHealed: true },
  ),
  'two calls with one id': plant(
    streaming(chatVendor, (text) => text.replaceAll('call_two', 'call_one')),
    'wire format of calls',
    /an id of its own/,
  ),
  'a call in the text': plant(
    saying((asked) => {
      const { calls, ...rest } = scripted(asked);
      return calls ? { text: '<tool_call>{"name":"get_weather"}</tool_call>' } : rest;
    }),
    'tool',
    /stands in the text/,
  ),
  'two calls, although one is asked for': plant(
    saying((asked, body) => {
      const { calls = [], ...rest } = scripted(asked);
      const [first] = calls;
      const isOne = body.parallel_tool_calls === false;
      return first ? { ...rest, calls: isOne ? [first, { ...first, id: 'call_two' }] : calls } : rest;
    }),
    'one at a time',
    /2 calls, although/,
  ),
  'a forced tool that is ignored': plant(
    saying((asked, body) => (typeof body.tool_choice === 'object' ? withoutCalls(scripted(asked)) : scripted(asked))),
    'forced tool',
    /accepted, and ignored/,
    { isHealed: true },
  ),
  'a schema that is ignored': plant(
    saying((asked) => (asked.text.includes('JSON') ? { text: 'Łódź.' } : scripted(asked))),
    'JSON schema',
    /accepted, and ignored/,
  ),
  'a picture that is refused': plant(
    refusingIf(hasPicture, 400, { error: { message: 'This model is blind.' } }),
    'picture',
    /is blind/,
    { isHealed: true },
  ),
  'a schema that is refused': plant(
    refusingIf(({ response_format }) => response_format !== undefined, 400, { error: { message: 'Free text only.' } }),
    'JSON schema',
    /Free text only/,
    { isHealed: true },
  ),
  'an unknown model that is a failure of the server': plant(
    refusingIf(isNobody, 500, { error: { message: 'Oops.' } }),
    'errors',
    /status 500/,
  ),
  'a refusal that repeats the key': plant(
    refusingIf((body) => 'stop' in body, 400, { error: { message: 'No stop for Bearer the-secret-key.' } }),
    'stop words',
    /No stop for \*\*\*/,
    { isHealed: true },
  ),
  'an unknown model without words': plant(refusingIf(isNobody, 404, {}), 'errors', /without words/),
};

for (const [name, { serve, format = 'openai', options, model = 'model-x', named, says, isHealed }] of Object.entries(
  plants,
)) {
  test(`${name}: it is named`, async (t) => {
    const upstream = await serve('the-secret-key');
    t.teardown(upstream.close);
    const source = sourceOf({ baseUrl: upstream.url, format, options, model });
    const found = await examineAt(t, source, model);
    const again = isHealed ? await examineAt(t, healedBy(source, model, found), model) : undefined;
    t.regex(deviationsIn(found)[named] ?? '', says, JSON.stringify(deviationsIn(found)));
    if (again) t.is(deviationsIn(again)[named], undefined);
    t.notRegex(JSON.stringify(found.findings), /the-secret-key/);
  });
}
