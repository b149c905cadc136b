import test from 'ava';
import { rig } from './rig.ts';

const tooLarge = {
  status: 413,
  headers: { 'content-type': 'application/json' },
  pieces: [JSON.stringify({ type: 'error', error: { type: 'request_too_large', message: 'too large here' } })],
};
const fails = (status: number) => ({ status, pieces: ['{}'] });
const answer = {
  headers: { 'content-type': 'application/json' },
  pieces: [
    JSON.stringify({
      id: 'm',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [{ type: 'text', text: 'hello' }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 1, output_tokens: 1 },
    }),
  ],
};

test("a provider's 413 is its own limit: the next destination is tried, without a retry", async (t) => {
  const { ask, upstreams } = await rig(t, [() => tooLarge, () => answer]);
  const { status, text } = await ask();
  t.is(status, 200);
  t.regex(text, /hello/);
  t.deepEqual(
    upstreams.map(({ requests }) => requests.length),
    [1, 1],
  );
});

test('a client gets a 413 only if all destinations refuse the size', async (t) => {
  const all = await rig(t, [() => tooLarge, () => tooLarge]);
  t.is((await all.ask()).status, 413);
  const config = { RETRY: { attempts: 0 } };
  const other = await rig(t, [() => tooLarge, () => fails(529)], { config });
  t.is((await other.ask()).status, 529);
  const first = await rig(t, [() => fails(529), () => tooLarge], { config });
  t.is((await first.ask()).status, 529);
});
