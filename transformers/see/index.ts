import { createHash } from 'node:crypto';
import { type ImagePart, type Part, Type, transformer } from 'junctor/transformer';

/** Puts a description in the place of each picture, for models that can't see. */
export default transformer({
  name: 'see',
  about: 'Puts a description in the place of each picture, for models that are known not to read pictures.',
  options: Type.Object({
    seer: Type.String({
      title: 'Who describes',
      description: 'The destination that describes pictures, `provider,model`; `ask` of the entry names it, too.',
      examples: ['work,sees'],
    }),
  }),
  when: { images: true },
  concerns: ({ input }) => input !== undefined && !input.includes('image'),
  async around(request, next, context, { seer }) {
    const described = async (picture: ImagePart): Promise<Part> => {
      const key = createHash('sha256').update(JSON.stringify(picture.source)).digest('hex');
      const parts: Part[] = [{ type: 'text', text: 'Describe this picture, with all text in it.' }, picture];
      const question = { model: '', stream: false, system: [], tools: [], turns: [{ role: 'user' as const, parts }] };
      const { text } = await context.ask(seer, question, { key, keepMs: 86_400_000 });
      context.losses.approximate(picture.at ?? 'picture', `described by ${seer}`);
      return { type: 'text', text: `[A picture. ${text}]` };
    };
    const seen = (parts: readonly Part[]): Promise<readonly Part[]> =>
      Promise.all(
        parts.map(async (part) => {
          if (part.type === 'tool-result') return { ...part, content: await seen(part.content) };
          return part.type === 'image' ? described(part) : part;
        }),
      );
    const turns = await Promise.all(request.turns.map(async (turn) => ({ ...turn, parts: await seen(turn.parts) })));
    return next({ ...request, turns });
  },
});
