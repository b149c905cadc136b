import test from 'ava';
import fc from 'fast-check';
import { startable } from '../../../engine/cli/system/windows-command.ts';

const npm = 'C:\\Users\\Me & You\\AppData\\Roaming\\npm';
const env = { Path: `C:\\Windows;"${npm}"`, PATHEXT: '.COM;.EXE;.BAT;.CMD', ComSpec: 'C:\\Windows\\cmd.exe' };
const machine = (...files: readonly string[]) => ({
  platform: 'win32' as const,
  isFile: (path: string) => files.some((file) => file.toLowerCase() === path.toLowerCase()),
});

/**
 * What `cmd.exe` makes of a line: outside quotes, a caret makes the next letter plain. Throws at a plain letter that would end the
 * command or redirect it.
 */
const readByCmd = (line: string): string => {
  let read = '';
  let quoted = false;
  for (let at = 0; at < line.length; at += 1) {
    const letter = line[at] ?? '';
    if (letter === '^' && !quoted) {
      at += 1;
      read += line[at] ?? '';
    } else {
      if (letter === '"') quoted = !quoted;
      if (!quoted && '&|<>'.includes(letter)) throw new Error(`${letter} at ${at} of ${line}`);
      read += letter;
    }
  }
  return read;
};

/** A command line taken apart as a program does. Source: Microsoft, "Parsing C command-line arguments". */
const wordsOf = (line: string): readonly string[] => {
  const words: string[] = [];
  let word: string | undefined;
  let quoted = false;
  for (let at = 0; at < line.length; ) {
    const [slashes = ''] = /^\\*/.exec(line.slice(at)) ?? [];
    at += slashes.length;
    const letter = line[at];
    if (letter === '"') {
      word = (word ?? '') + '\\'.repeat(slashes.length / 2);
      if (slashes.length % 2 === 1) word += '"';
      else quoted = !quoted;
    } else {
      if (slashes !== '') word = (word ?? '') + slashes;
      if (letter === ' ' && !quoted) {
        if (word !== undefined) words.push(word);
        word = undefined;
      } else if (letter !== undefined) word = (word ?? '') + letter;
    }
    at += 1;
  }
  return word === undefined ? words : [...words, word];
};

/** What a batch file of npm passes on: its `%*` is read by `cmd.exe` once more. */
const passedOn = (args: readonly string[]): readonly string[] => {
  const started = startable('codex', args, env, machine(`${npm}\\codex.cmd`));
  const [outer = ''] = started.args.slice(-1);
  const read = readByCmd(outer.slice(1, -1));
  const file = `${npm}\\codex.cmd`;
  if (!read.startsWith(file)) throw new Error(`not the file: ${read}`);
  return wordsOf(readByCmd(read.slice(file.length)));
};

test('on Windows, a command that npm installed is found on PATH and started by cmd.exe', (t) => {
  const files = machine(`${npm}\\codex.cmd`, `${npm}\\codex`, 'C:\\Windows\\node.exe');
  const started = startable('codex', ['exec'], env, files);
  t.like(started, { file: env.ComSpec, options: { windowsHide: true, windowsVerbatimArguments: true } });
  t.deepEqual(started.args.slice(0, 3), ['/d', '/s', '/c']);
  t.deepEqual(startable('node', ['a b'], env, files), {
    file: 'C:\\Windows\\node.exe',
    args: ['a b'],
    options: { windowsHide: true },
  });
  t.is(startable('codex.cmd', [], env, files).file, env.ComSpec);
  t.is(startable('.\\tools\\own', [], env, machine('tools\\own.bat')).file, env.ComSpec);
  t.is(startable('absent', [], env, files).file, 'absent', 'spawn says that it is missing');
  t.deepEqual(startable('codex', ['%PATH%'], env, { ...files, platform: 'linux' }).args, ['%PATH%']);
});

test('a batch file gets the arguments as they are, whatever is in them', (t) => {
  const codex = [
    '-c',
    'model_providers.x.base_url="http://127.0.0.1:1/v1"',
    '%PATH%',
    'a&calc.exe',
    '',
    'C:\\a\\',
    '\\"',
  ];
  t.deepEqual(passedOn(codex), codex);
  const letter = fc.constantFrom(...'ab \\"^&|<>()%!;,=*?`\'[]{}$~é');
  const text = fc.array(letter, { maxLength: 12 }).map((letters) => letters.join(''));
  fc.assert(
    fc.property(fc.array(text, { maxLength: 4 }), (args) => t.deepEqual(passedOn(args), args)),
    { numRuns: 500 },
  );
  for (const broken of ['a\nb', 'a\rb', 'a\0b']) t.throws(() => passedOn([broken]), { message: /line break/ });
});
