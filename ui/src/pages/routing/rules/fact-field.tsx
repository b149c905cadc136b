import { useMemo } from 'react';
import { isJsonObject, type Json } from '../../../api/json.ts';
import { protocolTitles } from '../../../api/protocols.ts';
import { type Fact, textsToValue, valueToTexts } from '../../../config/conditions.ts';
import { destinationsOf } from '../../../config/destinations.ts';
import { ChoicesField } from '../../../config/fields/choices-field.tsx';
import { withMember } from '../../../config/fields/field-path.ts';
import { useField, useForm } from '../../../config/fields/form.ts';
import { isReplaced, useMembers } from '../../../config/fields/use-members.ts';
import { sentence } from '../../../format/figures.ts';
import { Button, IconButton } from '../../../parts/controls/button.tsx';
import { ComboField } from '../../../parts/controls/combo-field.tsx';
import { NumberField, SelectField, TextArea, TextField } from '../../../parts/controls/field.tsx';
import { useRoutingConfig } from '../use-routing-config.ts';

interface FactProps {
  readonly fact: Fact;
  readonly path: string;
  readonly value: Json | undefined;
  readonly onChange: (value: Json) => void;
}

/** The fields for one fact of a condition. */
export const FactField = (props: FactProps) => {
  const { kind } = props.fact;
  switch (kind) {
    case 'globs':
    case 'texts':
      return <TextsFact {...props} />;
    case 'flag':
      return <FlagFact {...props} />;
    case 'range':
      return <RangeFact {...props} />;
    case 'share':
      return <ShareFact {...props} />;
    case 'client':
      return <ClientFact {...props} />;
    case 'headers':
      return <HeadersFact {...props} />;
    case 'time':
      return <TimeFact {...props} />;
    case 'decides':
      return <DecidesFact {...props} />;
    default:
      return kind satisfies never;
  }
};

const TextsFact = ({ fact, path, value, onChange }: FactProps) => {
  const texts = valueToTexts(value);
  const how = fact.kind === 'globs' ? 'One per line, with * for any characters.' : 'One per line, as written.';
  return (
    <TextArea
      label={fact.title}
      hint={fact.hint === undefined ? how : `${fact.hint} ${how}`}
      {...useListField(path, texts.length)}
      rows={Math.min(6, Math.max(1, texts.length))}
      value={texts.join('\n')}
      onChange={(text) => onChange(textsToValue(text.split('\n')))}
      onBlur={() => onChange(textsToValue(withoutBlank(texts)))}
    />
  );
};

const withoutBlank = (texts: readonly string[]): readonly string[] => {
  const kept = texts.filter((text) => text.trim() !== '');
  return kept.length === 0 ? [''] : kept;
};

/** A field for a list: what is wrong with one of its texts counts as its own. */
const useListField = (path: string, length: number) => {
  const { faults } = useForm();
  const own = useField(path);
  const inner = faults.find((fault) => fault.path.startsWith(`${path}[`));
  return length > 1 && own.error === undefined && inner ? { ...own, error: sentence(inner.message) } : own;
};

const FlagFact = ({ fact, path, value, onChange }: FactProps) => (
  <SelectField
    label={fact.title}
    {...useField(path)}
    value={value === false ? 'no' : 'yes'}
    options={[
      { value: 'yes', label: 'Yes' },
      { value: 'no', label: 'No' },
    ]}
    onChange={(picked) => onChange(picked === 'yes')}
  />
);

const RangeFact = (props: FactProps) => (
  <NumbersFact {...props} second="under" label={`${props.fact.title}: fewer than`} />
);

const ShareFact = (props: FactProps) => <NumbersFact {...props} second="last" label="Of the latest" />;

/** Two numbers: more than one, and another, which has a name and a label. */
const NumbersFact = ({
  fact,
  path,
  value,
  onChange,
  second,
  label,
}: FactProps & { readonly second: string; readonly label: string }) => {
  const numbers = isJsonObject(value) ? value : {};
  const { error, ...mark } = useField(path);
  const member = (name: string) => ({
    value: typeof numbers[name] === 'number' ? numbers[name] : undefined,
    onChange: (next: number | undefined) => onChange(withMember(numbers, name, next)),
  });
  return (
    <div className="condition-pair" {...mark}>
      <NumberField label={`${fact.title}: more than`} min={0} {...useField(`${path}.over`)} {...member('over')} />
      <NumberField label={label} min={1} {...useField(`${path}.${second}`)} {...member(second)} />
      {error !== undefined && <p className="field-error">{error}</p>}
    </div>
  );
};

const ClientFact = ({ fact, path, value, onChange }: FactProps) => (
  <ChoicesField
    label={fact.title}
    path={path}
    titles={protocolTitles}
    value={valueToTexts(value)}
    onChange={(chosen) => onChange(textsToValue(chosen))}
  />
);

const TimeFact = ({ path, value, onChange }: FactProps) => {
  const time = isJsonObject(value) ? value : {};
  const text = (name: string): string => (typeof time[name] === 'string' ? time[name] : '');
  return (
    <div className="condition-pair">
      <TextField
        label="From"
        type="time"
        {...useField(`${path}.from`)}
        value={text('from')}
        onChange={(from) => onChange(withMember(time, 'from', from))}
      />
      <TextField
        label="To"
        type="time"
        {...useField(`${path}.to`)}
        value={text('to')}
        onChange={(to) => onChange(withMember(time, 'to', to))}
      />
      <TextField
        label="Time zone"
        placeholder="The gateway’s"
        {...useField(`${path}.zone`)}
        value={text('zone')}
        onChange={(zone) => onChange(withMember(time, 'zone', zone === '' ? undefined : zone))}
      />
    </div>
  );
};

const DecidesFact = ({ path, value, onChange }: FactProps) => {
  const decides = isJsonObject(value) ? value : {};
  const config = useRoutingConfig();
  const options = useMemo(() => destinationsOf(config), [config]);
  const answers = valueToTexts(decides.answers);
  const text = (name: string): string => (typeof decides[name] === 'string' ? decides[name] : '');
  const number = (name: string): number | undefined => (typeof decides[name] === 'number' ? decides[name] : undefined);
  const set = (name: string, next: Json | undefined): void => onChange(withMember(decides, name, next));
  return (
    <div className="stack-tight">
      <ComboField
        label="Model that decides"
        placeholder="provider,model"
        {...useField(`${path}.ask`)}
        value={text('ask')}
        options={options}
        onChange={(ask) => set('ask', ask)}
      />
      <TextArea
        label="Question about the user’s last text"
        rows={2}
        {...useField(`${path}.question`)}
        value={text('question')}
        onChange={(question) => set('question', question)}
      />
      <TextArea
        label="Answers"
        hint="One per line. Empty: yes and no."
        rows={Math.max(2, answers.length)}
        {...useListField(`${path}.answers`, answers.length)}
        value={answers.join('\n')}
        onChange={(list) => set('answers', list === '' ? undefined : list.split('\n'))}
      />
      <TextField
        label="Answer that must be given"
        placeholder="yes"
        {...useField(`${path}.answer`)}
        value={text('answer')}
        onChange={(answer) => set('answer', answer === '' ? undefined : answer)}
      />
      <div className="condition-pair">
        <NumberField
          label="With at least this probability"
          step="any"
          min={0}
          max={1}
          {...useField(`${path}.atLeast`)}
          value={number('atLeast')}
          onChange={(least) => set('atLeast', least)}
        />
        <NumberField
          label="Milliseconds until the answer"
          min={1}
          {...useField(`${path}.limitMs`)}
          value={number('limitMs')}
          onChange={(limit) => set('limitMs', limit)}
        />
      </div>
      <SelectField
        label="Without an answer"
        {...useField(`${path}.otherwise`)}
        value={decides.otherwise === true ? 'holds' : 'fails'}
        options={[
          { value: 'fails', label: 'it does not hold' },
          { value: 'holds', label: 'it holds' },
        ]}
        onChange={(picked) => set('otherwise', picked === 'holds' ? true : undefined)}
      />
    </div>
  );
};

type HeaderTest = 'matches' | 'present' | 'absent';

const HeadersFact = ({ path, value, onChange }: FactProps) => {
  const { members: headers, rows } = useMembers(isJsonObject(value) ? value : {}, onChange);
  return (
    <div className="stack-tight">
      {headers.map(([name, given], at) => (
        <HeaderRow
          key={rows.keys[at]}
          path={`${path}.${name}`}
          name={name}
          value={given}
          hasLater={isReplaced(headers, at)}
          onChange={(next, text) => rows.set(at, [next, text])}
          onRemove={() => rows.remove(at)}
        />
      ))}
      <div className="row">
        <Button
          look="quiet"
          icon="add"
          disabled={headers.some(([name]) => name === '')}
          onClick={() => rows.add(['', true])}
        >
          Add a header
        </Button>
      </div>
    </div>
  );
};

const HeaderRow = ({
  path,
  name,
  value,
  hasLater,
  onChange,
  onRemove,
}: {
  readonly path: string;
  readonly name: string;
  readonly value: Json;
  /** A later row has the same name. */
  readonly hasLater: boolean;
  readonly onChange: (name: string, value: Json) => void;
  readonly onRemove: () => void;
}) => {
  const { error, ...mark } = useField(path);
  const test: HeaderTest = typeof value === 'boolean' ? (value ? 'present' : 'absent') : 'matches';
  return (
    <div className="condition-header">
      <TextField
        label="Header"
        {...mark}
        error={hasLater ? 'Is tested again below; only that test is used.' : error}
        value={name}
        onChange={(next) => onChange(next, value)}
      />
      <SelectField
        label={`${name || 'The header'}: test`}
        unlabelled
        value={test}
        options={[
          { value: 'matches', label: 'matches' },
          { value: 'present', label: 'is present' },
          { value: 'absent', label: 'is absent' },
        ]}
        onChange={(picked) => onChange(name, picked === 'matches' ? '*' : picked === 'present')}
      />
      {test === 'matches' && (
        <TextArea
          label={`${name || 'The header'}: values`}
          unlabelled
          rows={Math.min(4, valueToTexts(value).length)}
          value={valueToTexts(value).join('\n')}
          onChange={(text) => onChange(name, textsToValue(text.split('\n')))}
        />
      )}
      <IconButton icon="remove" label={`Remove the header ${name}`} onClick={onRemove} />
    </div>
  );
};
