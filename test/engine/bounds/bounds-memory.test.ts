import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import test from 'ava';
import { modelOf, type WireName, wires } from '../../support/faults/wires.ts';
import { commandRig } from '../../support/processes/command.ts';
import { jsonAnswer, type Reaction, sseAnswer, startUpstream } from '../../support/upstreams/upstream.ts';

/** What a gateway with the default limits takes of memory while its peers go beyond each of them. */
const mostMiB = 600;
const MiB = 1024 * 1024;

const json = { 'content-type': 'application/json' };
const piece = 'x'.repeat(64 * 1024);

const endless = function* (head: string): Iterable<string> {
  yield head;
  for (;;) yield piece;
};

const plays: Readonly<Record<string, (wire: WireName) => Reaction>> = {
  'a record without end': () => sseAnswer(endless('data: {"x":"')),
  'a reply without end': () => ({ headers: json, pieces: endless('{"x":"') }),
  'a bomb': () => ({ headers: { ...json, 'content-encoding': 'gzip' }, pieces: [bomb] }),
  small: (wire) => jsonAnswer(wires[wire].reply('ok')),
};
const bomb = gzipSync(Buffer.alloc(256 * MiB, 'x'));

/** Together, nearly eight times the memory that is allowed. */
const largeBodies = 80;

/** 58 MiB of messages in 380 KB. */
const large = (model: string): Uint8Array => {
  const rare = randomBytes(280 * 1024).toString('base64');
  const content = [rare, ...Array.from({ length: 160 }, () => 'x'.repeat(360_000))];
  const messages = content.map((text, index) => ({ role: index % 2 === 0 ? 'user' : 'assistant', content: text }));
  return gzipSync(JSON.stringify({ model, max_tokens: 9, messages }));
};

/** Tells the process's own peak when it ends, in KiB. */
const tellsPeak = 'process.on("exit",()=>process.stdout.write("peak "+process.resourceUsage().maxRSS+"\\n"))';

for (const wire of ['messages', 'chat'] as const) {
  test.serial(
    `memory stays below 600 MB while ${wire} peers go beyond every bound, and others are served`,
    async (t) => {
      const upstream = await startUpstream((request) => plays[modelOf(request)]?.(wire) ?? 'close');
      t.teardown(upstream.close);
      const rig = await commandRig(t, {
        LOG: false,
        RETRY: { attempts: 0 },
        BREAKER: { faults: 1_000_000 },
        Providers: [{ name: wire, baseUrl: upstream.url, apiKey: '', models: [] }],
        transformers: [{ ...wires[wire].format, provider: wire }],
      });
      const running = rig.begin(['start'], {
        env: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(tellsPeak)}` },
      });
      await running.says('listens on http');
      const base = /listens on (\S+)/.exec(running.out())?.[1] ?? '';
      const post = (body: Uint8Array | string, headers: Record<string, string> = {}): Promise<Response> =>
        fetch(`${base}/v1/messages`, { method: 'POST', headers: { ...json, ...headers }, body });
      const ask = (model: string, stream: boolean): Promise<Response> => {
        const messages = [{ role: 'user', content: 'Hello' }];
        return post(JSON.stringify({ model: `${wire},${model}`, max_tokens: 9, stream, messages }));
      };

      for (const [model, stream] of [
        ['a record without end', true],
        ['a reply without end', false],
        ['a bomb', false],
      ] as const) {
        const answer = await ask(model, stream);
        const text = await answer.text();
        t.is(answer.status, stream && text.startsWith('data') ? 200 : 502, `${model}: ${text.slice(0, 200)}`);
        t.regex(text.slice(-500), /LIMITS\.\w+/, model);
      }

      const body = large(`${wire},small`);
      let pending = largeBodies;
      const statuses = Array.from({ length: pending }, async () => {
        const answer = await post(body, { 'content-encoding': 'gzip' });
        await answer.arrayBuffer();
        pending -= 1;
        return answer.status === 503 ? `503, retry-after ${answer.headers.get('retry-after')}` : `${answer.status}`;
      });
      let meanwhile = 0;
      let longestMs = 0;
      while (pending > 0) {
        const fromMs = performance.now();
        const answer = await ask('small', false);
        t.is(answer.status, 200, await answer.text());
        longestMs = Math.max(longestMs, performance.now() - fromMs);
        if (pending > 0) meanwhile += 1;
      }
      const tally = new Map<string, number>();
      for (const status of await Promise.all(statuses)) tally.set(status, (tally.get(status) ?? 0) + 1);
      t.deepEqual([...tally.keys()].sort(), ['200', '503, retry-after 1']);
      t.true(meanwhile > 0, 'small requests are answered meanwhile');
      t.log([...tally].map(([status, times]) => `${times} × ${status}`).join('; '));
      t.log(`${meanwhile} small ones meanwhile, the slowest ${Math.round(longestMs)} ms`);

      running.child.kill('SIGTERM');
      const { out } = await running.ended;
      const peakMiB = Number(/peak (\d+)/.exec(out)?.[1]) / 1024;
      t.log(`peak ${Math.round(peakMiB)} MiB`);
      t.true(peakMiB * MiB < mostMiB * 1_000_000, `${Math.round(peakMiB)} MiB`);
    },
  );
}
