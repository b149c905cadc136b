import { copyFile, readdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import test from 'ava';
import { starterOf } from '../../../engine/cli/commands/stage-starter.ts';
import { addressIn, commandRig } from '../../support/processes/command.ts';
import { chatStream } from '../../support/upstreams/chat-stream.ts';
import { sseAnswer, startUpstream } from '../../support/upstreams/upstream.ts';

const examples = resolve(import.meta.dirname, '../../../docs/examples');

test('junctor stage try: options and leave are those of the entry; a capture is a request’s id or a file', async (t) => {
  const upstream = await startUpstream(() => sseAnswer(chatStream(['[[', '0]] was a count', 'ess.'])));
  t.teardown(upstream.close);
  const rig = await commandRig(t, {
    Providers: [{ name: 'p', baseUrl: `${upstream.url}/v1`, apiKey: 'k', models: ['m'] }],
    transformers: [{ path: 'mask.ts', options: { names: ['Ada'] } }],
  });
  const file = join(rig.home, 'mask.ts');
  await copyFile(join(examples, 'mask.ts'), file);
  const service = rig.begin(['start'], { env: { JUNCTOR_PORT: '0' } });
  await service.says('Try it');
  const response = await fetch(`${addressIn(service.out())}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'x-junctor-capture': '1', 'x-request-id': 'first' },
    body: JSON.stringify({ model: 'p,m', stream: true, messages: [{ role: 'user', content: 'Who is Ada?' }] }),
  });
  t.regex(await response.text(), /Ada/);

  const byId = await rig.run(['stage', 'try', file, '--capture', 'first']);
  t.is(byId.code, 0, byId.err);
  for (const line of [
    /^stage {5}mask \(.*mask\.ts\)$/m,
    /^request {3}turns\[0\]\.parts\[0\]\.text: "Who is Ada\?" → "Who is \[\[0\]\]\?"$/m,
    /^answer {4}\[2\]\.text: "\[\[0\]\] was a countess\." → "Ada was a countess\."$/m,
    /^losses {4}none$/m,
    /^cuts {6}\d+ places, no difference$/m,
    /^leaves {4}\d+ points, nothing left$/m,
    /^in place {2}nothing changed$/m,
    /^time {6}\d+\.\d\d ms per request, \d+\.\d µs per delta$/m,
  ]) {
    t.regex(byId.out, line);
  }
  const capture = join(rig.home, 'first.json');
  await rig.ask(['captures', 'export', 'first', capture]);
  const byFile = await rig.ask(['stage', 'try', file, '--capture', capture, '--json']);
  t.like(JSON.parse(byFile.out), { stage: 'mask', problems: [], fault: null });
  t.is(upstream.requests.length, 1, 'no provider is called');
  t.like(await rig.ask(['stage', 'try', file, '--capture', 'second']), {
    code: 1,
    err: 'junctor: There is no capture of that id, or not any more.\n',
  });
});

test('junctor stage try: bad input is one line each, and exit code 1', async (t) => {
  const rig = await commandRig(t);
  const asks = join(rig.home, 'asks.js');
  await writeFile(
    asks,
    "import { transformer } from 'junctor/transformer';\nexport default transformer({ name: 'asks', async around(request, next, context) { await context.ask('p,m', '?'); return next(request); } });\n",
  );
  const none = join(rig.home, 'none.js');
  await writeFile(none, 'export default 3;\n');
  for (const [args, says] of [
    [['missing.ts'], /^junctor: There is no file missing\.ts\.$/],
    [[none], /^junctor: .*none\.js can't be used: its default export must be a transformer/],
    [[asks, '--options', '[1]'], /^junctor: --options must be a JSON object\.$/],
    [[asks, '--ask', 'p'], /^junctor: --ask must be `provider,model`/],
    [[asks, '--capture', asks], /^junctor: Cannot use the capture\. It is not a capture/],
    [[asks], /^Transformer "asks" failed in ask\("p,m"\): has no leave/],
  ] as const) {
    const { code, err } = await rig.ask(['stage', 'try', ...args]);
    t.is(code, 1, args.join(' '));
    t.regex(err.trimEnd(), says);
    t.notRegex(err.trimEnd(), /\n/);
  }
  const allowed = await rig.ask(['stage', 'try', asks, '--ask', 'p,m=yes']);
  t.like(allowed, { code: 0, err: '' });
  t.regex(allowed.out, /^calls {5}ask p,m, next$/m);
});

test('junctor stage new: writes the example of the docs and its test, overwrites nothing, and takes names of files', async (t) => {
  const starter = starterOf('mask', 'mask.ts', true);
  t.is(starter.module, await readFile(join(examples, 'mask.ts'), 'utf8'));
  t.is(starter.test, await readFile(join(examples, 'mask.test.ts'), 'utf8'));

  const rig = await commandRig(t);
  const write = (...args: readonly string[]) => rig.run(['stage', 'new', ...args], { cwd: rig.home });
  const first = await write('two-words', '--js');
  t.is(first.code, 0);
  t.regex(first.out, /^Wrote two-words\.js and two-words\.test\.js\.$/m);
  t.regex(first.err, /^The test needs the package in this folder: npm install --save-dev junctor$/m);
  t.regex(await readFile(join(rig.home, 'two-words.test.js'), 'utf8'), /from '\.\/two-words\.js'/);
  const tried = await rig.ask(['stage', 'try', join(rig.home, 'two-words'), '--options', '{"names":["Ada"]}']);
  t.is(tried.code, 0, tried.err);

  // As newer npm writes it.
  await writeFile(join(rig.home, 'package.json'), '{"type":"commonjs"}');
  t.regex((await write('other', '--js')).out, /^Wrote other\.mjs and other\.test\.mjs\.$/m);
  const files = await readdir(rig.home);
  for (const [name, says] of [
    ['two-words', /^junctor: There is a two-words\.js already; nothing is overwritten\.$/m],
    ['../up', /^junctor: The name must begin with a small letter/],
    ['Mask', /^junctor: The name must begin with a small letter/],
    ['maxtoken', /^junctor: maxtoken is the name of a built-in transformer\.$/m],
  ] as const) {
    const { code, err } = await write(name);
    t.is(code, 1, name);
    t.regex(err, says);
  }
  t.deepEqual(await readdir(rig.home), files);
});
