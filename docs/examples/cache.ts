import { lastText, type ModelEvent, replay, rx, Type, transformer, untilContent } from 'junctor/transformer';

/** Gives an answer that it has given before from memory. If nothing came of a question, asks once more. */
export default transformer({
  name: 'cache',
  options: Type.Object({ minutes: Type.Number({ minimum: 1 }) }),
  async around(request, next, context, { minutes }) {
    const key = `${request.model} ${lastText(request)}`.slice(-1_000);
    const kept = await context.memory.get(key);
    if (kept !== undefined) {
      context.log('answered from memory');
      return replay(kept);
    }
    const events: ModelEvent[] = [];
    return untilContent(next(request)).pipe(
      rx.throwIfEmpty(),
      rx.retry(1),
      rx.tap({
        next: (batch) => events.push(...batch),
        complete: () => context.memory.set(key, JSON.parse(JSON.stringify(events)), { ms: minutes * 60_000 }),
      }),
    );
  },
});
