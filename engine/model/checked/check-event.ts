import Type from 'typebox';
import type { Block, MessageStop, ModelEvent, Usage } from '../event.ts';
import { faultKinds } from '../fault.ts';
import {
  check,
  checkByType,
  count,
  flag,
  jsonObject,
  type Members,
  optional,
  type Problem,
  signature,
  text,
  wire,
  word,
} from './shape.ts';

const number = optional(Type.Number());

const usage = Type.Object({
  input: number,
  cacheRead: number,
  cacheWrite: number,
  cacheWrite1h: number,
  output: number,
  reasoning: number,
  webSearches: number,
  serviceTier: optional(text),
  speed: optional(text),
  geography: optional(text),
  costUsd: number,
} satisfies Members<Usage>);

const fault = Type.Object({
  kind: Type.Enum([...faultKinds]),
  message: text,
  param: optional(text),
  code: optional(text),
  status: optional(Type.Number()),
  headers: optional(Type.Record(text, text)),
  retryOtherUpstream: optional(flag),
  countsAgainstHealth: optional(flag),
  settled: optional(flag),
});

const delta = (member: string) => check(Type.Object({ type: text, index: count, [member]: text }));

const checkStart = check(Type.Object({ type: text, index: count, block: Type.Object({}) }));

const checkBlock = checkByType<Block['type']>('type', {
  text: () => undefined,
  refusal: () => undefined,
  thinking: () => undefined,
  'redacted-thinking': check(Type.Object({ signature })),
  'tool-call': check(Type.Object({ id: word, name: word, signature: optional(signature) })),
  opaque: check(Type.Object({ wire, raw: jsonObject })),
});

const checkEvent = checkByType<ModelEvent['type']>('type', {
  'message-start': check(Type.Object({ type: text, id: text, model: text, usage: optional(usage) })),
  'block-start': (value, at) => checkStart(value, at) ?? checkBlock(Object(value).block, `${at}block`),
  'text-delta': delta('text'),
  'thinking-delta': delta('text'),
  'signature-delta': check(Type.Object({ index: count, signature })),
  'citation-delta': check(Type.Object({ index: count, citation: Type.Object({ type: Type.Enum(['url', 'opaque']) }) })),
  'input-delta': delta('json'),
  'opaque-delta': check(Type.Object({ index: count, raw: jsonObject, signature: optional(signature) })),
  'block-stop': check(Type.Object({ index: count })),
  'message-stop': check(
    Type.Object({
      type: text,
      finish: Type.Enum([
        'end',
        'stop-sequence',
        'length',
        'context-full',
        'tool-call',
        'filtered',
        'pause',
        'compaction',
      ]),
      stopSequence: optional(text),
      usage,
      probabilities: optional(Type.Record(text, Type.Number())),
      extra: optional(Type.Object({ wire, fields: jsonObject })),
    } satisfies Members<MessageStop>),
  ),
  error: check(Type.Object({ fault })),
});

/** Path at which a value isn't an event (`text`, `block.id`); `undefined`: it is one. A delta costs one compiled check. */
export const eventProblem = (value: unknown): Problem => checkEvent(value, '');
