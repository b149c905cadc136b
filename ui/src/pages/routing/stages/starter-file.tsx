import { Button } from '../../../parts/controls/button.tsx';
import { CodeBlock } from '../../../parts/text/code-block.tsx';
import { saveText } from '../../../parts/text/save-text.ts';
import { starterModule } from './starter-module.ts';

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
