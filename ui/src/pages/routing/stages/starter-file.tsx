import { Button } from '../../../parts/controls/button.tsx';
import { CodeBlock } from '../../../parts/text/code-block.tsx';
import { saveText } from '../../../parts/text/save-text.ts';

/** A first version of a module that isn't there yet. */
export const StarterFile = ({ path }: { readonly path: string }) => {
  const name = path.split('/').at(-1) || 'my-stage.ts';
  return (
    <div className="stack-tight">
      <p className="soft">
        Save this as <code>{path || name}</code> in the configuration’s folder, and change it. It is loaded again with
        each saved configuration.
      </p>
      <CodeBlock label={name} text={starterModule} />
      <div className="row">
        <Button onClick={() => saveText(name, [starterModule])}>Download {name}</Button>
      </div>
    </div>
  );
};

/** It has an option, and changes requests. */
const starterModule = `import { Type, transformer } from 'junctor/transformer';

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
