const text = `import { Type, transformer } from 'junctor/transformer';

/** Puts a sentence in front of the system prompt. */
export default transformer({
  name: 'my-stage',
  options: Type.Object({
    sentence: Type.Optional(Type.String({ description: 'Said first.' })),
  }),
  request: (request, { sentence = 'Answer in one paragraph.' }) => ({
    ...request,
    system: [{ type: 'text', text: sentence }, ...request.system],
  }),
});
`;

/** A custom transformer to begin with: it has an option, and changes requests. */
export const starterModule = text;
