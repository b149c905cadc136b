import test, { type ExecutionContext } from 'ava';
import { formatFinding } from '../../../engine/config/diagnostics.ts';
import { validateConfig } from '../../../engine/config/validate.ts';
import { startGateway } from '../../support/gateway.ts';
import { chatReply } from '../../support/upstreams/chat-stream.ts';
import { jsonAnswer, type Reaction, startUpstream } from '../../support/upstreams/upstream.ts';

/*
 * A provider with several base URLs: the first that works takes the requests.
 */

/** A gateway whose provider has as many base URLs as there are reactions. `say` changes what one of them answers. */
const withUrls = async (t: ExecutionContext, ...reactions: Reaction[]) => {
  const upstreams = await Promise.all(reactions.map((_, index) => startUpstream(() => reactions[index] ?? 'never')));
  t.teardown(() => Promise.all(upstreams.map((upstream) => upstream.close())));
  let nowMs = 1_000_000;
  const [first, ...others] = upstreams.map(({ url }) => `${url}/v1`);
  const gateway = await startGateway(
    {
      LOG: false,
      Providers: [{ name: 'p', baseUrl: first, otherBaseUrls: others, apiKey: 'k', models: ['m'], query: { v: '1' } }],
    },
    {},
    { healthNowMs: () => nowMs },
  );
  t.teardown(gateway.stop);
  return {
    say: (index: number, reaction: Reaction) => {
      reactions[index] = reaction;
    },
    pass: (ms: number) => {
      nowMs += ms;
    },
    /** How many requests each base URL has had. */
    counts: () => upstreams.map(({ requests }) => requests.length),
    urls: () => upstreams.map(({ requests }) => requests.at(-1)?.url),
    ask: async (path = '/v1/chat/completions') => {
      const answer = await fetch(gateway.baseUrl + path, {
        method: 'POST',
        body: JSON.stringify({ model: 'p,m', max_tokens: 9, messages: [{ role: 'user', content: 'Hello' }] }),
      });
      return { status: answer.status, text: await answer.text() };
    },
  };
};

const fine = jsonAnswer(chatReply('fine'));

for (const [title, broken] of Object.entries({ 'that breaks': 'reset', 'that fails': jsonAnswer({}, 503) } as const)) {
  for (const path of ['/v1/chat/completions', '/v1/messages']) {
    test(`${path}: the base URL after one ${title} serves the request, and those after it`, async (t) => {
      const { ask, counts, urls } = await withUrls(t, broken, fine, fine);
      t.is((await ask(path)).status, 200);
      t.deepEqual(counts(), [1, 1, 0]);
      t.is((await ask(path)).status, 200);
      t.deepEqual(counts(), [1, 2, 0], 'the first one is passed over');
      t.is(urls()[1], '/v1/chat/completions?v=1');
    });
  }
}

test('the first base URL is tried again after 30 seconds, and takes the requests when it works', async (t) => {
  const { ask, counts, pass, say } = await withUrls(t, 'reset', fine);
  await ask();
  pass(29_999);
  await ask();
  t.deepEqual(counts(), [1, 2]);
  pass(2);
  await ask();
  t.deepEqual(counts(), [2, 3], 'it failed once more');
  say(0, fine);
  pass(30_001);
  await ask();
  await ask();
  t.deepEqual(counts(), [4, 3]);
});

test('if none works, the client gets the fault', async (t) => {
  const { ask, counts } = await withUrls(t, jsonAnswer({ error: { message: 'down' } }, 503), jsonAnswer({}, 503));
  const { status, text } = await ask();
  t.is(status, 503, text);
  t.deepEqual(counts(), [2, 1]);
});

test('what lies in the request or the key is not tried elsewhere', async (t) => {
  const { ask, counts } = await withUrls(t, jsonAnswer({ error: { message: 'no such field' } }, 400), fine);
  t.is((await ask()).status, 400);
  t.deepEqual(counts(), [1, 0]);
});

test('further base URLs are checked; repeated and unset ones are left out with a warning', (t) => {
  const check = (...otherBaseUrls: string[]) => {
    const provider = { name: 'p', baseUrl: 'https://a.example/v1', apiKey: 'k', models: ['m'], otherBaseUrls };
    const result = validateConfig({ Providers: [provider] }, {});
    const urls = 'config' in result ? result.config.providers[0]?.otherBaseUrls : undefined;
    const said = ['faults' in result ? result.faults : [], result.warnings].flat().map(formatFinding);
    return { urls: urls?.map(({ href }) => href), said };
  };
  t.deepEqual(check('https://b.example/v1').urls, ['https://b.example/v1']);
  t.regex(check('ftp://b.example').said.join(), /otherBaseUrls\[0\] must be a URL/);
  t.regex(check('https://u:p@b.example').said.join(), /otherBaseUrls\[0\] must not contain a user name/);
  t.regex(check('https://a.example/v1').said.join(), /otherBaseUrls\[0\] is ignored: the URL is listed before/);
  t.regex(check('$ELSEWHERE').said.join(), /otherBaseUrls\[0\] is ignored: .*ELSEWHERE/);
});
