import { answer, lastText, replay, rx, Type, transformer, whole } from 'junctor/transformer';

/** Refuses what a guard finds unsafe, and gives the better of two models' answers. */
export default transformer({
  name: 'judge',
  options: Type.Object({ guard: Type.String(), other: Type.String(), judge: Type.String() }),
  async around(request, next, context, { guard, other, judge }) {
    const last = lastText(request);
    const { text } = await context.ask(guard, `Answer safe or unsafe:\n${last}`, { key: last, keepMs: 600_000 });
    if (/unsafe/.test(text)) return answer('I can’t help with that.', { finish: 'filtered' });
    return rx.forkJoin([whole(next(request)), whole(next(request, { to: other }))]).pipe(
      rx.mergeMap(async (both) => {
        const choice = await context.ask(judge, `Which is better, 1 or 2?\n1: ${both[0].text}\n2: ${both[1].text}`);
        return both[choice.text.trim() === '2' ? 1 : 0];
      }),
      rx.mergeMap((better) => replay(better.events)),
    );
  },
});
