import { type ModelEvent, machine, Type, transformer } from 'junctor/transformer';

/** Text that has come but isn't sent yet: a word may go on in the next piece. */
interface State {
  held: string;
}

/** Masks words in the answer's text, also those that the model sends in pieces. */
export default transformer({
  name: 'mask-words',
  options: Type.Object({ words: Type.Array(Type.String({ minLength: 1 }), { minItems: 1 }) }),
  events({ words }) {
    const longest = Math.max(...words.map((word) => word.length));
    const longestFirst = [...words].sort((one, other) => other.length - one.length);
    const pattern = new RegExp(longestFirst.map((word) => word.replace(/\W/g, '\\$&')).join('|'), 'gi');

    return machine<State, ModelEvent, ModelEvent>({
      initial: () => ({ held: '' }),
      step(state, event, out) {
        if (event.type === 'text-delta') {
          const text = state.held + event.text;
          // A word that begins before this place has come to its end.
          const { masked, rest } = mask(text, pattern, text.length - longest + 1);
          state.held = rest;
          if (masked !== '') out.push({ ...event, text: masked });
          return;
        }
        if (state.held !== '' && 'index' in event) {
          const { masked } = mask(state.held, pattern, state.held.length);
          out.push({ type: 'text-delta', index: event.index, text: masked });
          state.held = '';
        }
        out.push(event);
      },
    });
  },
});

/** Masks the words that begin before `end`; `rest` is what has to wait for the next piece. */
const mask = (text: string, pattern: RegExp, end: number): { readonly masked: string; readonly rest: string } => {
  let masked = '';
  let from = 0;
  for (const { 0: word, index } of text.matchAll(pattern)) {
    if (index >= end) break;
    masked += `${text.slice(from, index)}***`;
    from = index + word.length;
  }
  const cut = wholeCharacters(text, Math.max(from, end));
  return { masked: masked + text.slice(from, cut), rest: text.slice(Math.max(from, cut)) };
};

/** No cut goes through the two halves of one character. */
const wholeCharacters = (text: string, cut: number): number =>
  cut < text.length && /[\ud800-\udbff]/.test(text.charAt(cut - 1)) ? cut - 1 : cut;
