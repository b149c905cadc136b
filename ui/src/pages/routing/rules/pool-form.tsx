import { useMemo, useRef } from 'react';
import type { PoolFile } from '../../../api/config/config.ts';
import { modelDestinations } from '../../../config/destinations.ts';
import { withMember } from '../../../config/fields/field-path.ts';
import { useField, useForm } from '../../../config/fields/form.ts';
import { splitNames } from '../../../config/models.ts';
import { renamePool } from '../../../config/rename-provider.ts';
import { Button } from '../../../parts/controls/button.tsx';
import { ComboField, type ComboOption } from '../../../parts/controls/combo-field.tsx';
import { NumberField, SelectField, TextField } from '../../../parts/controls/field.tsx';
import { SortableList } from '../../../parts/controls/sortable-list.tsx';
import { useRows } from '../../../state/use-rows.ts';
import { useRoutingConfig } from '../use-routing-config.ts';

type Member = NonNullable<PoolFile['members']>[number];
type Strategy = NonNullable<PoolFile['strategy']>;

const strategies: readonly { readonly value: Strategy; readonly label: string }[] = [
  { value: 'weighted', label: 'Weighted: by the weights' },
  { value: 'fastest', label: 'Fastest: whose answers begin sooner' },
  { value: 'least-busy', label: 'Least busy: fewest requests in flight' },
  { value: 'sticky', label: 'Sticky: one member per conversation' },
];

const none: readonly Member[] = [];

/** The form for one pool. */
export const PoolForm = ({
  pool,
  at,
  onChange,
}: {
  readonly pool: PoolFile;
  readonly at: number;
  readonly onChange: (pool: PoolFile) => void;
}) => {
  const { change } = useForm();
  const config = useRoutingConfig();
  const path = `Pools[${at}]`;
  const { name = '', strategy = 'weighted', members = none } = pool;
  const nameBefore = useRef(name);
  const options = useMemo(() => modelDestinations(config), [config]);
  const rows = useRows(members, (list) => onChange({ ...pool, members: list }));
  const listField = useField(`${path}.members`);
  const hasWeights = strategy === 'weighted' || strategy === 'sticky';
  return (
    <>
      <div className="form-grid">
        <TextField
          label="Name"
          hint="What destinations and clients call it. Routes that use the old name are updated."
          {...useField(`${path}.name`)}
          value={name}
          onFocus={() => {
            if (name !== '') nameBefore.current = name;
          }}
          onBlur={() => change((before) => renamePool(before, nameBefore.current, name))}
          onChange={(value) => onChange(withMember(pool, 'name', value))}
        />
        <SelectField
          label="Strategy"
          {...useField(`${path}.strategy`)}
          value={strategy}
          options={strategies}
          onChange={(value) => onChange(withMember(pool, 'strategy', value))}
        />
      </div>
      <div className="stack-tight">
        <p className="field-label">Members</p>
        <SortableList
          label={`Members of ${name || 'the new pool'}`}
          rows={members.map((member, index) => ({
            key: rows.keys[index] ?? index,
            name: member.to || 'the new member',
            head: (
              <MemberFields
                member={member}
                number={index + 1}
                path={`${path}.members[${index}]`}
                options={options}
                hasWeight={hasWeights}
                onChange={(next) => rows.set(index, next)}
              />
            ),
          }))}
          onMove={rows.move}
          onRemove={rows.remove}
        />
        {listField.error !== undefined && <p className="field-error">{listField.error}</p>}
        <div className="row">
          <Button look="quiet" icon="add" data-path={`${path}.members`} onClick={() => rows.add({ to: '' })}>
            Add a member<span className="unseen"> to {name || 'the new pool'}</span>
          </Button>
        </div>
      </div>
    </>
  );
};

const MemberFields = ({
  member,
  number,
  path,
  options,
  hasWeight,
  onChange,
}: {
  readonly member: Member;
  readonly number: number;
  readonly path: string;
  readonly options: readonly ComboOption[];
  readonly hasWeight: boolean;
  readonly onChange: (member: Member) => void;
}) => {
  const weight = useField(`${path}.weight`);
  const { to = '', models = [] } = member;
  return (
    <div className="pool-member">
      <ComboField
        label={`Member ${number}: destination`}
        unlabelled
        placeholder="provider,model"
        options={options}
        {...useField(`${path}.to`)}
        value={to}
        onChange={(value) => onChange(withMember(member, 'to', value))}
      />
      {(hasWeight || member.weight !== undefined) && (
        <NumberField
          label={`Member ${number}: weight`}
          unlabelled
          min={0}
          step="any"
          placeholder="Weight 1"
          {...weight}
          value={member.weight}
          onChange={(value) => onChange(withMember(member, 'weight', value))}
        />
      )}
      <TextField
        label={`Member ${number}: only for these models, comma-separated`}
        unlabelled
        placeholder="All models"
        title="Only for requests that ask for these models: globs such as *-mini, comma-separated"
        {...useField(`${path}.models`)}
        value={models.join(', ')}
        onBlur={() => onChange(withMember(member, 'models', listed(models.filter(Boolean))))}
        onChange={(text) => onChange(withMember(member, 'models', listed(splitNames(text))))}
      />
    </div>
  );
};

/** An empty list would allow no model. */
const listed = (models: readonly string[]): readonly string[] | undefined => (models.length > 0 ? models : undefined);
