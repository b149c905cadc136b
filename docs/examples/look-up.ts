import { type ModelRequest, rx, Type, transformer } from 'junctor/transformer';
import { fromFetch } from 'rxjs/fetch';

/** Asks a service of yours what it knows about the newest question, and hands that to the model. */
export default transformer({
  name: 'look-up',
  options: Type.Object({ url: Type.String() }),
  operators: ({ url }) => ({
    request: rx.mergeMap((request: ModelRequest) => {
      const question = newestQuestion(request);
      if (question === '') return rx.of(request);
      // A client that leaves unsubscribes, and `fromFetch` then takes the call back.
      return fromFetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ question }),
        selector: readKnown,
      }).pipe(rx.map((known) => withNote(request, known)));
    }),
  }),
});

const newestQuestion = ({ turns }: ModelRequest): string => {
  const newest = turns.at(-1);
  if (newest?.role !== 'user') return '';
  return newest.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
};

const readKnown = async (response: Response): Promise<string> => {
  if (!response.ok) throw new Error(`the service answered with status ${response.status}`);
  const answer: unknown = await response.json();
  const known = typeof answer === 'object' && answer !== null && 'known' in answer ? answer.known : '';
  return typeof known === 'string' ? known : '';
};

const withNote = (request: ModelRequest, known: string): ModelRequest =>
  known === '' ? request : { ...request, system: [...request.system, { type: 'text', text: `Known: ${known}` }] };
