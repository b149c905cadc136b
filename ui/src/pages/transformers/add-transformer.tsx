import type { TransformerEntry } from '../../api/config.ts';
import type { Transformer } from '../../api/transformers.ts';
import { Button } from '../../parts/button.tsx';
import { Panel } from '../../parts/panel.tsx';

/** What can be put at the end of the list, and what it would do. */
export const AddTransformer = ({
  transformers,
  onAdd,
}: {
  readonly transformers: readonly Transformer[];
  readonly onAdd: (entry: TransformerEntry) => void;
}) => (
  <Panel title="Add a transformer" about="It comes last, next to the provider; move it to where it belongs.">
    <ul className="offers">
      {transformers
        .filter(({ kind }) => kind === 'stage')
        .map(({ name, about }) => (
          <li key={name}>
            <Button icon="add" onClick={() => onAdd(name)}>
              {name}
            </Button>
            <span className="soft small">{about}</span>
          </li>
        ))}
      <li>
        <Button icon="add" onClick={() => onAdd({ path: '' })}>
          a module of your own
        </Button>
        <span className="soft small">TypeScript or JavaScript from the configuration&rsquo;s folder.</span>
      </li>
      <li>
        <Button icon="add" onClick={() => onAdd({ name: '' })}>
          a format
        </Button>
        <span className="soft small">
          What a provider speaks, where its address doesn&rsquo;t tell; also picked on the page of providers.
        </span>
      </li>
    </ul>
  </Panel>
);
