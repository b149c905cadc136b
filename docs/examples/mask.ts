import { mapText, mapTexts, Type, transformer } from 'junctor/transformer';

/** Replaces names in what the model reads, except tools' own, and puts them back into what it writes, also where a placeholder is cut. */
export default transformer({
  name: 'mask',
  options: Type.Object({ names: Type.Array(Type.String({ minLength: 1 })) }),
  around(request, next, _context, { names }) {
    const masked = mapTexts(request, (text, place) =>
      place === 'tool-name' ? text : names.reduce((given, name, at) => given.replaceAll(name, `[[${at}]]`), text),
    );
    const unmask = (text: string, kind: string): string =>
      text.replace(/\[\[(\d+)\]\]/g, (mark, index) => {
        const name = names[Number(index)] ?? mark;
        return kind === 'input' ? JSON.stringify(name).slice(1, -1) : name;
      });
    return next(masked).pipe(mapText(unmask, { lookbehind: 16, in: ['text', 'thinking', 'input'] }));
  },
});
