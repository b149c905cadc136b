import { useMemo } from 'react';
import { destinationsOf } from '../../../config/destinations.ts';
import { useField } from '../../../config/fields/form.ts';
import { Button } from '../../../parts/controls/button.tsx';
import { ComboField, type ComboOption } from '../../../parts/controls/combo-field.tsx';
import { SortableList } from '../../../parts/controls/sortable-list.tsx';
import { Notice } from '../../../parts/layout/notice.tsx';
import { useRows } from '../../../state/use-rows.ts';
import { useRoutingConfig } from '../use-routing-config.ts';

/** A destination and its fallbacks, as one list in their order. */
export const DestinationsField = ({
  value,
  pathOf,
  listPath,
  placeholder = 'provider,model',
  onChange,
}: {
  /** The destination first. */
  readonly value: readonly string[];
  readonly pathOf: (at: number) => string;
  /** Where something may be wrong with the fallbacks as a list. */
  readonly listPath: string;
  /** Of a destination that isn't set. */
  readonly placeholder?: string;
  readonly onChange: (value: readonly string[]) => void;
}) => {
  const config = useRoutingConfig();
  const options = useMemo(() => destinationsOf(config), [config]);
  const texts = value.length === 0 ? [''] : value;
  const rows = useRows(texts, onChange);
  const { error } = useField(listPath);
  const again = texts.filter((text, at) => text !== '' && texts.indexOf(text) < at);
  return (
    <div className="stack-tight">
      <p className="field-label">Destination, then fallbacks</p>
      <SortableList
        label="Destinations"
        rows={texts.map((text, at) => ({
          key: rows.keys[at] ?? at,
          name: text || 'the destination',
          head: (
            <DestinationField
              label={at === 0 ? 'Destination' : `Fallback ${at}`}
              path={pathOf(at)}
              placeholder={at === 0 ? placeholder : 'provider,model'}
              options={options}
              value={text}
              onChange={(next) => rows.set(at, next)}
            />
          ),
        }))}
        onMove={rows.move}
        onRemove={rows.remove}
      />
      {error !== undefined && pathOf(0) !== listPath && <p className="field-error">{error}</p>}
      {again.length > 0 && (
        <Notice kind="warn">
          {[...new Set(again)].join(' and ')} comes twice: a destination that failed is not asked again as its own
          fallback.
        </Notice>
      )}
      <div className="row">
        <Button look="quiet" icon="add" data-path={listPath} onClick={() => rows.add('')}>
          Add a fallback
        </Button>
      </div>
    </div>
  );
};

const DestinationField = ({
  path,
  ...field
}: {
  readonly label: string;
  readonly path: string;
  readonly placeholder: string;
  readonly options: readonly ComboOption[];
  readonly value: string;
  readonly onChange: (value: string) => void;
}) => <ComboField {...field} {...useField(path)} unlabelled />;
