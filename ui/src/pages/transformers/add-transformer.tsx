import type { TransformerEntry } from '../../api/config/config.ts';
import type { Transformer } from '../../api/config/transformers.ts';
import { Button } from '../../parts/controls/button.tsx';
import { Panel } from '../../parts/layout/panel.tsx';

/** The transformers that can be added, with their descriptions. */
export const AddTransformer = ({
  transformers,
  onAdd,
}: {
  readonly transformers: readonly Transformer[];
  readonly onAdd: (entry: TransformerEntry) => void;
}) => (
  <Panel title="Add a transformer" about="Added last, next to the provider. Move it where you need it.">
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
          Custom module
        </Button>
        <span className="soft small">A TypeScript or JavaScript file in the configuration’s folder.</span>
      </li>
      <li>
        <Button icon="add" onClick={() => onAdd({ name: '' })}>
          Format
        </Button>
        <span className="soft small">
          A provider’s API format, if its base URL doesn’t determine it. Can also be set on the Providers page.
        </span>
      </li>
    </ul>
  </Panel>
);
