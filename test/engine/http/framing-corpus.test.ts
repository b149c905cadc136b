import test from 'ava';
import { of } from 'rxjs';
import { chooseServer } from '../../../engine/http/choose-server.ts';
import { echo, endpoint, raw, serve, statusesOf, text } from './rig.ts';

const post = (headers: string, body = '') => `POST /x HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n${body}`;
const chunked = 'Transfer-Encoding: chunked\r\n';
const smuggled = 'POST /x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n';

/** Requests whose end can't be told for sure, or that aren't HTTP/1.1 at all. None may reach an endpoint. */
const corpus: readonly (readonly [title: string, bytes: string])[] = [
  ['two lengths', post('Content-Length: 3\r\nContent-Length: 5\r\n', 'abcde')],
  ['the same length twice', post('Content-Length: 3\r\nContent-Length: 3\r\n', 'abc')],
  ['two lengths, a request inside', post(`Content-Length: 0\r\nContent-Length: ${smuggled.length}\r\n`, smuggled)],
  ['length and chunks', post(`Content-Length: 3\r\n${chunked}`, '3\r\nabc\r\n0\r\n\r\n')],
  ['length and chunks, a request inside', post(`${chunked}Content-Length: 4\r\n`, `0\r\n\r\n${smuggled}`)],
  ['gzip, chunked', post('Transfer-Encoding: gzip, chunked\r\n', '3\r\nabc\r\n0\r\n\r\n')],
  ['chunked, identity', post('Transfer-Encoding: chunked, identity\r\n', '3\r\nabc\r\n0\r\n\r\n')],
  ['identity', post('Transfer-Encoding: identity\r\n', `0\r\n\r\n${smuggled}`)],
  ['xchunked', post('Transfer-Encoding: xchunked\r\n', `0\r\n\r\n${smuggled}`)],
  ['chunked twice', post(chunked + chunked, '3\r\nabc\r\n0\r\n\r\n')],
  ['chunked after a vertical tab', post('Transfer-Encoding: \x0bchunked\r\n', '0\r\n\r\n')],
  ['a space before the colon', post('Transfer-Encoding : chunked\r\n', '0\r\n\r\n')],
  ['a negative length', post('Content-Length: -3\r\n', 'abc')],
  ['a signed length', post('Content-Length: +3\r\n', 'abc')],
  ['an empty length', post('Content-Length: \r\n', smuggled)],
  ['a hexadecimal length', post('Content-Length: 0x3\r\n', 'abc')],
  ['a list of lengths', post('Content-Length: 3, 3\r\n', 'abc')],
  ['a huge length', post('Content-Length: 99999999999999999999\r\n', 'abc')],
  ['a chunk without a size', post(chunked, 'zz\r\nabc\r\n0\r\n\r\n')],
  ['a negative chunk', post(chunked, '-3\r\nabc\r\n0\r\n\r\n')],
  ['a huge chunk', post(chunked, 'ffffffffffffffff1\r\nabc\r\n0\r\n\r\n')],
  ['a chunk longer than its size', post(chunked, '3\r\nabcdef\r\n0\r\n\r\n')],
  ['a folded header', post('X: a\r\n b\r\nContent-Length: 0\r\n')],
  ['a folded first header', 'POST /x HTTP/1.1\r\nHost: localhost\r\n Content-Length: 3\r\n\r\nabc'],
  ['a bare line feed', post('X: a\nContent-Length: 3\r\n', 'abc')],
  ['a bare carriage return', post('X: a\rContent-Length: 3\r\n', 'abc')],
  ['a NUL in a value', post('X: a\0b\r\n')],
  ['a NUL in a name', post('X\0: a\r\n')],
  ['a header without a colon', post('foo\r\n')],
  ['line feeds alone', 'POST /x HTTP/1.1\nHost: localhost\n\n'],
  ['no host', 'POST /x HTTP/1.1\r\nContent-Length: 0\r\n\r\n'],
  ['two hosts', post('Host: localhost\r\n')],
  ['HTTP/1.0 without a host', 'POST /x HTTP/1.0\r\n\r\n'],
  ['HTTP/1.0 with two hosts', 'POST /x HTTP/1.0\r\nHost: localhost\r\nHost: localhost\r\n\r\n'],
  ['HTTP/1.0 with chunks', `POST /x HTTP/1.0\r\nHost: localhost\r\n${chunked}\r\n0\r\n\r\n`],
  ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['no version', 'POST /x\r\n\r\n'],
  ['tabs for spaces', 'POST\t/x\tHTTP/1.1\r\nHost: localhost\r\n\r\n'],
  ['a whole URL', 'POST http://localhost/x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n'],
  ['more than a hundred headers', post(Array.from({ length: 120 }, (_, index) => `X-${index}: 1\r\n`).join(''))],
];

test('S10 no malformed request reaches an endpoint or gets a successful response', async (t) => {
  let reached = 0;
  const counting = endpoint(() => {
    reached += 1;
    return of(text('reached'));
  });
  const { port } = await serve(t, [{ method: 'POST', path: '/x', endpoint: counting }]);
  const answers = await Promise.all(corpus.map(([, bytes]) => raw(port, bytes, 400)));
  for (const [index, [title]] of corpus.entries()) {
    const statuses = statusesOf(answers[index]?.text ?? '');
    t.true(statuses.length <= 1 && statuses.every((status) => status >= 400), `${title}: ${statuses.join(' ')}`);
  }
  t.is(reached, 0);
});

const refused = corpus.filter(([title]) => /^(two lengths|the same|gzip|chunked, identity|an empty)/.test(title));
for (const [title, bytes] of refused.filter(([, bytes]) => !bytes.includes(smuggled))) {
  test(`S10 ${title}: 400 and the end of the connection`, async (t) => {
    const { port } = await serve(t, [{ method: 'POST', path: '/x', endpoint: endpoint(() => of(text(''))) }]);
    const { text: answer, closed } = await raw(port, bytes, 400);
    t.deepEqual(statusesOf(answer), [400]);
    t.true(closed);
  });
}

/** Odd, but there is one way to read them. */
const harmless: readonly (readonly [title: string, bytes: string])[] = [
  ['chunked in capitals', post('Transfer-Encoding: CHUNKED\r\n', '3\r\nabc\r\n0\r\n\r\n')],
  ['a length with zeros before', post('Content-Length: 0003\r\n', 'abc')],
  ['no body at all', post('')],
  ['a header without a value', post('X:\r\nContent-Length: 0\r\n')],
];
for (const [title, bytes] of harmless) {
  test(`${title} is served`, async (t) => {
    const { port } = await serve(t, [{ method: 'POST', path: '/x', endpoint: endpoint(() => of(text(''))) }]);
    t.deepEqual(statusesOf((await raw(port, bytes)).text), [200]);
  });
}

/**
 * What clients rarely send, but may: with `node:http` it is served, with uWebSockets.js as far as its parser goes, else refused at
 * once, with one of these statuses: which one depends on how the bytes arrive.
 */
const odd: readonly (readonly [title: string, pieces: readonly string[], withUws: readonly number[]])[] = [
  ['a chunk extension', [post(chunked), '5;name=value\r\nhello\r\n0\r\n\r\n'], [400]],
  ['an extension that is read as part of the size', [post(chunked), '5;a\r\nhello\r\n0\r\n\r\n'], [400]],
  ['the same in one piece', [post(chunked, '5;a\r\nhello\r\n0\r\n\r\n')], [400]],
  ['the same with a split end', [post(chunked), '5;a\r\nhello\r\n0', '\r\n\r', '\n'], [400]],
  ['an extension of the last chunk', [post(chunked), '5\r\nhello\r\n0;last\r\n\r\n'], [400]],
  ['trailers', [post(chunked, '5\r\nhello\r\n0\r\nX-Sum: abc\r\n\r\n')], [505]],
  ['announced trailers', [post(`Trailer: X-Sum\r\n${chunked}`), '5\r\nhello\r\n0\r\nX-Sum: abc\r\n\r\n'], [400, 505]],
  ['what looks like an end amid the content', [post(chunked), 'a\r\nhe\r\n0\r\n\r\n!\r\n0\r\n\r\n'], [200]],
];
for (const server of chooseServer().facts.server === 'uws' ? ['uws', 'node'] : ['node']) {
  for (const [title, pieces, withUws] of odd) {
    // One after the other: beside hundreds of other tests, an answer that came at once is read late.
    test.serial(`${title}: ${server} answers at once`, async (t) => {
      const { port } = await serve(t, [{ method: 'POST', path: '/x', endpoint: echo }], {
        server: chooseServer(server),
      });
      const from = performance.now();
      const { text: answer } = await raw(port, pieces, 600);
      const [status, ...more] = statusesOf(answer);
      t.true((server === 'uws' ? withUws : [200]).includes(status ?? 0), answer);
      t.deepEqual(more, []);
      if (server === 'node') t.regex(answer, /\r\n\r\nhe/);
      if (withUws[0] === 400 && answer.includes('"by"')) t.regex(answer, /not supported/);
      t.true(performance.now() - from < 8_000);
    });
  }
}
