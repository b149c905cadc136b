import { answer, lastText, rx, Type, transformer } from 'junctor/transformer';

/** Asks a guard while the model answers. The answer waits for the verdict; an unsafe request ends the call and is declined. */
export default transformer({
  name: 'guard',
  options: Type.Object({ guard: Type.String() }),
  around(request, next, context, { guard }) {
    const last = lastText(request);
    const isUnsafe = context
      .ask(guard, `Is this request safe? Answer safe or unsafe.\n<request>${last}</request>`, { key: last })
      .then(({ text }) => /\bunsafe\b/i.test(text));
    const declined = rx
      .from(isUnsafe)
      .pipe(rx.mergeMap((is) => (is ? answer('I can’t help with that.', { finish: 'filtered' }) : rx.NEVER)));
    const answered = next(request).pipe(rx.delayWhen(() => rx.from(isUnsafe).pipe(rx.filter((is) => !is))));
    return rx.race(declined, answered);
  },
});
