import test from 'ava';
import type { Loss } from '../../../engine/model/loss.ts';
import { headerText, lossHeader } from '../../../engine/operators/write-reply.ts';

const dropped = (path: string): Loss => ({ path, outcome: 'dropped', step: 's' });
const approximated = (path: string): Loss => ({ path, outcome: 'approximated', step: 's' });
const many = (count: number, path: (index: number) => string) =>
  Array.from({ length: count }, (_, i) => dropped(path(i)));

const cases: readonly (readonly [string, readonly Loss[], string])[] = [
  ['one', [dropped('top_k')], 'dropped: top_k'],
  [
    'both kinds, in order',
    [approximated('temperature'), dropped('top_k'), dropped('seed')],
    'dropped: top_k, seed; approximated: temperature',
  ],
  ['one of a list keeps its index', [dropped('messages[3].name')], 'dropped: messages[3].name'],
  ['several of a list are told once', many(40, (i) => `tools[${i}].strict`), 'dropped: tools[].strict*40'],
  ['two steps, one field', [{ ...dropped('top_k'), step: 'x' }, dropped('top_k')], 'dropped: top_k'],
  [
    'nothing of a client breaks the header or its punctuation',
    [dropped('a\r\nset-cookie: x'), dropped('ü;, *'), dropped('\u0000\u007f')],
    'dropped: a__set-cookie:_x, _____, __',
  ],
  [
    'what changes the answer most comes first',
    [
      dropped('prompt_cache_key'),
      dropped('top_k'),
      approximated('input[3].arguments'),
      dropped('messages[1].content[0].cache_control'),
      dropped('tools[4]'),
      approximated('text.format.name'),
      dropped('tool_choice'),
    ],
    'dropped: tools[4], tool_choice, top_k; approximated: text.format.name, input[3].arguments',
  ],
  ['a long name is cut', [dropped('x'.repeat(5_000))], `dropped: ${'x'.repeat(126)}..`],
  [
    'what leaves the answer as it is stays in the record',
    [
      dropped('input[0].id'),
      dropped('client_metadata.root_turn_id'),
      dropped('store'),
      dropped('tools[2].cache_control'),
    ],
    '',
  ],
  ['nothing', [], ''],
];

for (const [title, losses, header] of cases) test(`losses: ${title}`, (t) => t.is(lossHeader(losses), header));

test('what has no room is counted, and the header stays below 1 KiB', (t) => {
  for (const length of [1, 10, 100, 1_000]) {
    const losses = [...many(3_000, (i) => `${'x'.repeat(length)}${i}`), approximated('y')];
    const header = lossHeader(losses);
    t.true(header.length <= 1_024);
    const left = Number(/\+(\d+)$/.exec(header)?.[1]);
    t.is(header.replace(/; \+\d+$/, '').split(/[,;] /).length + left, 3_001);
  }
});

test('the heaviest losses have room, whatever came before them', (t) => {
  const losses = [...many(3_000, (i) => `${'x'.repeat(40)}${i}`), dropped('instructions'), approximated('tools[1]')];
  t.regex(lossHeader(losses), /^dropped: instructions, x.*; approximated: tools\[1\]; \+\d+$/);
});

const names: readonly (readonly [name: string, header: string])[] = [
  ['openai/gpt-5; x (y)', 'openai/gpt-5; x (y)'],
  ['模型', '%E6%A8%A1%E5%9E%8B'],
  ['a\r\nb\u0000', 'a%0D%0Ab%00'],
  ['\ud83d\ude80\ud83d', '%F0%9F%9A%80%EF%BF%BD'],
];
for (const [name, header] of names) test(`a name in a header: ${header}`, (t) => t.is(headerText(name), header));

test('a long name in a header is cut between characters', (t) => {
  for (const character of ['x', 'ü', '模', '\u{1f680}', '\ud83d']) {
    const header = headerText(`m${character.repeat(100_000)}`);
    t.true(header.length <= 256 && header.length > 240);
    t.notThrows(() => decodeURIComponent(header));
  }
});
