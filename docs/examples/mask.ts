import { type ModelEvent, type ModelRequest, rx, Type, transformer } from 'junctor/transformer';

/** Replaces names in what the model reads, and puts them back into what it writes, also where a placeholder is cut. */
export default transformer({
  name: 'mask',
  options: Type.Object({ names: Type.Array(Type.String({ minLength: 1 })) }),
  around(request, next, _context, { names }) {
    const masked: ModelRequest = JSON.parse(
      names.reduce(
        (text, name, index) => text.replaceAll(JSON.stringify(name).slice(1, -1), `[[${index}]]`),
        JSON.stringify(request),
      ),
    );
    let held = '';
    const unmask = (text: string): string => {
      const all = (held + text).replace(/\[\[(\d+)\]\]/g, (mark, index) => names[Number(index)] ?? mark);
      held = /\[(?:\[\d*\]?)?$/.exec(all)?.[0] ?? '';
      return all.slice(0, all.length - held.length);
    };
    return next(masked).pipe(
      rx.map((batch) =>
        batch.flatMap((event): readonly ModelEvent[] => {
          if (event.type === 'text-delta') {
            const text = unmask(event.text);
            return text === '' ? [] : [{ ...event, text }];
          }
          if (event.type !== 'block-stop' || held === '') return [event];
          const rest: ModelEvent = { type: 'text-delta', index: event.index, text: held };
          held = '';
          return [rest, event];
        }),
      ),
    );
  },
});
