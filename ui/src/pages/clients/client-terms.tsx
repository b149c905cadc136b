import { readConfigSchema } from '../../api/config/config.ts';
import { isJsonObject, type JsonObject } from '../../api/json.ts';
import { useLoad } from '../../api/use-load.ts';
import { SchemaForm } from '../../config/fields/schema-form.tsx';
import { NumberField, SelectField } from '../../parts/controls/field.tsx';

/** What a client may use, as the form has it. */
export interface Terms {
  readonly usd: number | undefined;
  readonly per: 'day' | 'month';
  /** Limits, models, routes, the expiry, and the budget in tokens. */
  readonly limits: JsonObject;
}

export const noTerms: Terms = { usd: undefined, per: 'month', limits: {} };

/** The terms in an element of `CLIENTS`. */
export const termsOf = ({ budget, limits, models, routes, expires }: JsonObject): Terms => {
  const { usd, per, tokens } = isJsonObject(budget) ? budget : {};
  const given = { limits, tokens, models, routes, expires };
  return {
    usd: typeof usd === 'number' ? usd : undefined,
    per: per === 'day' ? per : 'month',
    limits: Object.fromEntries(
      Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
    ),
  };
};

/** The members of an element of `CLIENTS` that the terms are. */
export const membersOf = ({ usd, per, limits: { tokens, ...more } }: Terms): JsonObject => {
  const budget = { ...(tokens !== undefined && { tokens }), ...(usd !== undefined && { usd }) };
  return { ...more, ...(Object.keys(budget).length > 0 && { budget: { ...budget, per } }) };
};

/** All members that the terms may have: what a change leaves out is removed. */
export const termMembers = ['limits', 'models', 'routes', 'expires', 'budget'] as const;

/** The fields for budget and limits. */
export const TermsFields = ({
  terms,
  onChange,
}: {
  readonly terms: Terms;
  readonly onChange: (terms: Terms) => void;
}) => {
  const { data: schema } = useLoad(readConfigSchema);
  const limitSchema = schema && limitsOf(schema);
  const { usd, per, limits } = terms;
  return (
    <>
      <div className="form-grid">
        <NumberField
          label="Budget in USD"
          hint="Empty: none. Requests to models of unknown price don’t count."
          min={0}
          step="any"
          value={usd}
          onChange={(next) => onChange({ ...terms, usd: next })}
        />
        <SelectField
          label="Budget per"
          value={per}
          options={[
            { value: 'day', label: 'Day' },
            { value: 'month', label: 'Month' },
          ]}
          onChange={(next) => onChange({ ...terms, per: next })}
        />
      </div>
      {limitSchema && (
        <details>
          <summary>Limits{Object.keys(limits).length > 0 && ' (set)'}</summary>
          <SchemaForm
            schema={limitSchema}
            path=""
            titles={titles}
            value={limits}
            onChange={(next) => onChange({ ...terms, limits: next })}
          />
        </details>
      )}
    </>
  );
};

const titles = {
  models: 'Models',
  routes: 'Routes',
  limits: 'At most',
  tokens: 'Budget in tokens',
  expires: 'Expires',
};

/** The schema of a client without what the form above has; the budget in tokens is beside the limits. */
const limitsOf = ({ properties }: JsonObject): JsonObject | undefined => {
  const list = isJsonObject(properties) ? properties.CLIENTS : undefined;
  const client = isJsonObject(list) && isJsonObject(list.items) ? list.items.properties : undefined;
  if (!isJsonObject(client)) return undefined;
  const { models, routes, limits, budget, expires } = client;
  const tokens = isJsonObject(budget) && isJsonObject(budget.properties) ? budget.properties.tokens : undefined;
  return { type: 'object', additionalProperties: false, properties: { limits, tokens, models, routes, expires } };
};
