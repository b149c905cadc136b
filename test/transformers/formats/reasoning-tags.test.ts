import test from 'ava';
import type { ModelEvent } from '../../../engine/model/event.ts';
import { runWhole } from '../../../engine/model/machine.ts';
import { replyContext } from '../../support/context.ts';
import { checkEvents } from '../../support/events.ts';
import { upstreamOf } from './rig.ts';

const compatible = upstreamOf('openai', 'm', 'messages', { baseUrl: 'https://models.example/v1' });

const record = (delta: object, finish: string | null = null) => ({
  event: '',
  data: JSON.stringify({ id: 'c', model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] }),
});

/** Blocks of an answer: `think:` or `text:`, and what is in them. */
const blocks = (events: readonly ModelEvent[]): readonly string[] => {
  checkEvents(events);
  const found: string[] = [];
  for (const event of events) {
    if (event.type === 'block-start') found.push(event.block.type === 'thinking' ? 'think:' : `${event.block.type}:`);
    if (event.type === 'text-delta' || event.type === 'thinking-delta') found.push(`${found.pop()}${event.text}`);
  }
  return found;
};

const rows: readonly (readonly [title: string, pieces: readonly string[], expected: readonly string[]])[] = [
  ['whole', ['<think>I think</think>Hello'], ['think:I think', 'text:Hello']],
  ['cut inside the tags', ['<thi', 'nk>I think</th', 'ink>\n\nHel', 'lo'], ['think:I think', 'text:Hello']],
  ['after white space', ['\n ', '<think>\nI think\n</think>', ' Hello'], ['think:I think\n', 'text:Hello']],
  ['a longer tag', ['<thinking>I think</thinking>Hello'], ['think:I think', 'text:Hello']],
  ['cut where two tags are alike', ['<think', 'ing>I think</thinking>Hello'], ['think:I think', 'text:Hello']],
  ['another one', ['<thought>I think</thought>Hello'], ['think:I think', 'text:Hello']],
  ['not closed', ['<think>I think'], ['think:I think']],
  ['later in the text', ['Hello <think>', 'x</think>'], ['text:Hello <think>x</think>']],
  ['only alike', ['<thinker>', 'x'], ['text:<thinker>x']],
  ['no tag', ['Hel', 'lo'], ['text:Hello']],
];

for (const [title, pieces, expected] of rows) {
  test(`reasoning in tags at the start of a compatible server's text: ${title}`, (t) => {
    const stream = [...pieces.map((content) => record({ content })), record({}, 'stop'), { event: '', data: '[DONE]' }];
    t.deepEqual(blocks(runWhole(compatible.decodeStream, replyContext(), stream)), expected);
    const message = { role: 'assistant', content: pieces.join('') };
    const reply = { id: 'c', model: 'm', choices: [{ index: 0, message, finish_reason: 'stop' }] };
    t.deepEqual(blocks(compatible.decodeReply(reply, replyContext())), expected);
  });
}

test('a finished stream without its terminal record is complete', (t) => {
  const running = compatible.decodeStream.start(replyContext());
  running.step(record({ content: '<think>x</think>y' }), []);
  t.false(running.settled?.());
  running.step(record({}, 'stop'), []);
  t.true(running.settled?.());
});
