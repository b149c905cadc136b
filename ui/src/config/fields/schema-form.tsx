import { isJsonObject, type Json, type JsonObject } from '../../api/json.ts';
import { sentence } from '../../format/figures.ts';
import { quantityOf } from '../../format/quantity.ts';
import { CheckField, NumberField, SecretField, SelectField, TextArea, TextField } from '../../parts/controls/field.tsx';
import { textsToValue, valueToTexts } from '../conditions.ts';
import { editedSecret } from '../reference.ts';
import { ChoicesField } from './choices-field.tsx';
import { Described } from './described.tsx';
import { withMember } from './field-path.ts';
import { fieldTitles } from './field-titles.ts';
import { useField, useForm } from './form.ts';
import { JsonField } from './json-field.tsx';
import { QuantityField } from './quantity-field.tsx';
import { ValuesField } from './values-field.tsx';

/** A form made from a JSON Schema. Values that have no control are edited as JSON. */
export const SchemaForm = ({
  schema,
  path,
  value,
  onChange,
  titles = {},
  shown,
  sourceOf,
}: {
  readonly schema: JsonObject;
  readonly path: string;
  readonly value: JsonObject;
  readonly onChange: (value: JsonObject) => void;
  /** Labels in place of the members' names. */
  readonly titles?: Readonly<Record<string, string>>;
  /** The members that have fields; default: all. */
  readonly shown?: readonly string[];
  /** Says where the value that is in effect comes from, if it isn't the default. */
  readonly sourceOf?: (path: string, value: Json | undefined) => string;
}) => {
  const properties = isJsonObject(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? schema.required : [];
  const known = Object.keys(properties);
  const { faults } = useForm();
  // The first of members that have no control of their own.
  const fault = faults.find(({ path: at }) => known.length === 0 && path !== '' && at.startsWith(`${path}.`));
  const others = Object.fromEntries(Object.entries(value).filter(([name]) => !known.includes(name)));
  return (
    <div className="form-grid">
      {(shown ?? known).map((name) => (
        <Member
          key={name}
          sourceOf={sourceOf}
          label={titles[name] ?? name}
          schema={isJsonObject(properties[name]) ? properties[name] : {}}
          required={required.includes(name)}
          path={path === '' ? name : `${path}.${name}`}
          value={value[name]}
          onChange={(member) => onChange(withMember(value, name, member))}
        />
      ))}
      {(Object.keys(others).length > 0 || (known.length === 0 && schema.additionalProperties !== false)) && (
        <div className="form-wide">
          <JsonField
            label={known.length === 0 ? 'Options' : 'Other options'}
            hint={known.length === 0 ? 'A JSON object.' : 'These options are unknown and are kept as they are.'}
            error={fault && sentence(`${fault.path.slice(path.length + 1)} ${fault.message}`)}
            path={path}
            value={Object.keys(others).length === 0 ? undefined : others}
            onChange={(rest) => {
              const own = Object.entries(value).filter(([name]) => known.includes(name));
              onChange({ ...Object.fromEntries(own), ...(isJsonObject(rest) ? rest : {}) });
            }}
          />
        </div>
      )}
    </div>
  );
};

const Member = ({
  sourceOf,
  label,
  schema,
  required,
  path,
  value,
  onChange,
}: {
  readonly sourceOf: Parameters<typeof SchemaForm>[0]['sourceOf'];
  readonly label: string;
  readonly schema: JsonObject;
  readonly required: boolean;
  readonly path: string;
  readonly value: Json | undefined;
  readonly onChange: (value: Json | undefined) => void;
}) => {
  const mark = useField(path);
  const usual = schema.default;
  const source = sourceOf?.(path, value) ?? '';
  const about = [typeof schema.description === 'string' ? schema.description : '', source].filter(Boolean).join(' ');
  const hint = about === '' ? undefined : <Described text={about} />;
  const frame = { label, hint, ...mark };
  const choices = choicesOf(schema);
  if (choices && (value === undefined || typeof value === 'string')) {
    const none = usual === undefined ? 'Not set' : `Default (${String(usual)})`;
    return (
      <SelectField
        {...frame}
        value={value ?? ''}
        options={[
          ...(required ? [] : [{ value: '', label: none }]),
          ...choices.map((choice) => ({ value: choice, label: choice })),
        ]}
        onChange={(picked) => onChange(picked === '' ? undefined : picked)}
      />
    );
  }
  if (schema.type === 'boolean' && (value === undefined || typeof value === 'boolean')) {
    return (
      <CheckField
        label={label}
        hint={hint}
        data-path={path}
        checked={value ?? usual === true}
        onChange={(checked) => onChange(checked === (usual === true) && !required ? undefined : checked)}
      />
    );
  }
  const kind = quantityOf(schema.unit);
  if (kind && isNumeric(schema) && (value === undefined || typeof value === 'number' || typeof value === 'string')) {
    return <QuantityField {...mark} {...{ kind, label, about, usual, value, onChange }} />;
  }
  if (isNumeric(schema) && (value === undefined || typeof value === 'number')) {
    return (
      <NumberField
        {...frame}
        {...(typeof schema.minimum === 'number' && { min: schema.minimum })}
        {...(typeof schema.maximum === 'number' && { max: schema.maximum })}
        step={schema.type === 'integer' ? 1 : 'any'}
        placeholder={usual === undefined ? '' : String(usual)}
        required={required}
        value={value}
        onChange={onChange}
      />
    );
  }
  if (
    schema.type === 'string' &&
    (schema.secret === 'text' || path.toLowerCase().endsWith('key')) &&
    (value === undefined || typeof value === 'string')
  ) {
    return (
      <SecretField
        {...frame}
        value={value ?? ''}
        onChange={(typed) => onChange(editedSecret(value ?? '', typed) || undefined)}
      />
    );
  }
  const isNumberOrWord = takesNumberOrWord(schema);
  if (
    (schema.type === 'string' || isNumberOrWord) &&
    (value === undefined || typeof value === 'string' || (isNumberOrWord && typeof value === 'number'))
  ) {
    return (
      <TextField
        {...frame}
        placeholder={usual === undefined ? '' : String(usual)}
        value={String(value ?? '')}
        onChange={(text) => {
          if (text === '' && !required) onChange(undefined);
          else onChange(isNumberOrWord && /^\d{1,15}$/.test(text) ? Number(text) : text);
        }}
      />
    );
  }
  const listed = isJsonObject(schema.items) ? choicesOf(schema.items) : undefined;
  if (listed && (value === undefined || Array.isArray(value))) {
    return (
      <ChoicesField
        label={label}
        path={path}
        titles={Object.fromEntries(listed.map((name) => [name, wordsOf(name)]))}
        value={(value ?? []).map(String)}
        onChange={(next) => onChange(next.length > 0 ? next : undefined)}
      />
    );
  }
  if (schema.type === 'object' && (value === undefined || isJsonObject(value))) {
    if (isJsonObject(schema.properties)) {
      return (
        <fieldset className="form-wide values">
          <legend className="field-label">{label}</legend>
          {hint && <p className="field-hint">{hint}</p>}
          <SchemaForm
            schema={{ ...schema, additionalProperties: false }}
            path={path}
            titles={fieldTitles(schema)}
            value={value ?? {}}
            onChange={(next) => onChange(Object.keys(next).length > 0 ? next : undefined)}
          />
        </fieldset>
      );
    }
    if (isRecordOfTexts(schema)) return <ValuesField {...{ label, hint, path, onChange }} value={value ?? {}} />;
  }
  const mayBeText = takesTextOrTexts(schema);
  if (
    (isListOfTexts(schema) || mayBeText) &&
    (value === undefined || Array.isArray(value) || (mayBeText && typeof value === 'string'))
  ) {
    const texts = valueToTexts(value);
    const set = (next: readonly string[]): void => onChange(mayBeText ? textsToValue(next) : next);
    return (
      <TextArea
        {...frame}
        hint={<>{hint} One per line.</>}
        rows={Math.min(8, Math.max(2, texts.length + 1))}
        value={texts.join('\n')}
        onChange={(text) => (text === '' ? onChange(undefined) : set(text.split('\n').map((line) => line.trim())))}
        onBlur={() => value !== undefined && set(texts.filter((line) => line !== ''))}
      />
    );
  }
  return (
    <div className="form-wide">
      <JsonField label={label} path={path} value={value} onChange={onChange} hint={hint} />
    </div>
  );
};

const isRecordOfTexts = ({ patternProperties }: JsonObject): boolean =>
  isJsonObject(patternProperties) &&
  Object.values(patternProperties).every((one) => isJsonObject(one) && one.type === 'string');

/** `forcedToolChoice` as words. */
const wordsOf = (name: string): string => {
  const words = name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
};

const isListOfTexts = ({ type, items }: JsonObject): boolean =>
  type === 'array' && isJsonObject(items) && items.type === 'string';

/** `FLEET.store` is one: a text, or a list of texts. */
const takesTextOrTexts = ({ anyOf }: JsonObject): boolean =>
  Array.isArray(anyOf) &&
  anyOf.some((one: Json) => isJsonObject(one) && isListOfTexts(one)) &&
  anyOf.every((one: Json) => isJsonObject(one) && (one.type === 'string' || isListOfTexts(one)));

/** `WORKERS` is one: a number or `auto`. */
const takesNumberOrWord = ({ anyOf }: JsonObject): boolean =>
  Array.isArray(anyOf) &&
  anyOf.some((one: Json) => isJsonObject(one) && isNumeric(one)) &&
  anyOf.every((one: Json) => isJsonObject(one) && (isNumeric(one) || typeof one.const === 'string'));

const isNumeric = ({ type }: JsonObject): boolean => type === 'integer' || type === 'number';

/** The choices that a schema lists, as an `enum` or as an `anyOf` of constants. */
const choicesOf = ({ enum: listed, const: only, anyOf }: JsonObject): readonly string[] | undefined => {
  if (typeof only === 'string') return [only];
  const values = Array.isArray(listed)
    ? listed
    : Array.isArray(anyOf)
      ? anyOf.map((one: Json) => (isJsonObject(one) ? one.const : undefined))
      : [];
  const texts = values.filter((one): one is string => typeof one === 'string');
  return texts.length > 0 && texts.length === values.length ? texts : undefined;
};
