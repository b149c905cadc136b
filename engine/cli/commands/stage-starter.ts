/** The two files of a new custom transformer: one that masks names, and its test. `typed`: in TypeScript. */
export const starterOf = (name: string, file: string, typed: boolean) => {
  const text = typed ? ': string' : '';
  return {
    module: `import { mapText, mapTexts, Type, transformer } from 'junctor/transformer';

/** Replaces names in what the model reads, except tools' own, and puts them back into what it writes, also where a placeholder is cut. */
export default transformer({
  name: '${name}',
  options: Type.Object({ names: Type.Array(Type.String({ minLength: 1 })) }),
  around(request, next, _context, { names }) {
    const masked = mapTexts(request, (text, place) =>
      place === 'tool-name' ? text : names.reduce((given, name, at) => given.replaceAll(name, \`[[\${at}]]\`), text),
    );
    const unmask = (text${text}, kind${text})${text} =>
      text.replace(/\\[\\[(\\d+)\\]\\]/g, (mark, index) => {
        const name = names[Number(index)] ?? mark;
        return kind === 'input' ? JSON.stringify(name).slice(1, -1) : name;
      });
    return next(masked).pipe(mapText(unmask, { lookbehind: 16, in: ['text', 'thinking', 'input'] }));
  },
});
`,
    test: `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { everyCut, everyLeave, testStage } from 'junctor/testing';
import stage from './${file}';

const given = { stage, options: { names: ['Ada'] }, request: 'Who is Ada?', answer: '[[0]] was a countess.' };

test('the model never sees the name, and the client gets it back', async () => {
  const { request, text } = await testStage(given);
  assert.deepEqual(request.after?.turns[0]?.parts, [{ type: 'text', text: 'Who is [[0]]?' }]);
  assert.equal(text, 'Ada was a countess.');
});

test('wherever the answer is cut, the client gets the same', async () => {
  await everyCut(given);
});

test('whenever the client goes, nothing stays behind', async () => {
  await everyLeave(given);
});
`,
  };
};
