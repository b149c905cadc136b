import { useId, useMemo } from 'react';
import type { ConfigFile } from '../../api/config/config.ts';
import { destinationsOf } from '../../config/destinations.ts';
import { withMember } from '../../config/fields/field-path.ts';
import { useField, useForm } from '../../config/fields/form.ts';
import {
  fallbackPath,
  fallbacksOf,
  type Rule,
  routeOf,
  routePath,
  withFallbacks,
  withRoute,
} from '../../config/rules.ts';
import { Button } from '../../parts/controls/button.tsx';
import { ComboField } from '../../parts/controls/combo-field.tsx';
import { NumberField, TextArea } from '../../parts/controls/field.tsx';
import { SortableList } from '../../parts/controls/sortable-list.tsx';
import { useRows } from '../../state/use-rows.ts';
import { Fallback } from './fallback.tsx';

/** One rule: its destination and its fallbacks. */
export const RuleRow = ({ rule }: { readonly rule: Rule }) => {
  const { config, change, inherited } = useForm();
  const id = useId();
  const options = useMemo(() => destinationsOf({ ...inherited, ...config }), [config, inherited]);
  const fallbacks = fallbacksOf(config, rule);
  const rows = useRows(fallbacks, (list) => change((before) => withFallbacks(before, rule, list)));
  const at = fallbackPath(config, rule);
  const listField = useField(at);
  return (
    <li className="rule" aria-labelledby={id}>
      <div className="rule-about">
        <h3 id={id}>{rule.title}</h3>
        <p className="soft small">{rule.fits}</p>
        {rule.name === 'compact' && <CompactPrompt />}
        {rule.name === 'longContext' && <Threshold />}
      </div>
      <div className="rule-ways">
        <ComboField
          label={`${rule.title}: destination`}
          unlabelled
          placeholder={placeholderOf(rule, inherited)}
          options={options}
          {...useField(routePath(config, rule))}
          value={routeOf(config, rule)}
          onChange={(value) => change((before) => withRoute(before, rule, value))}
        />
        {fallbacks.length > 0 && (
          <div className="rule-fallbacks">
            <p className="soft small">Fallbacks</p>
            <SortableList
              label={`${rule.title}: fallbacks`}
              rows={fallbacks.map((destination, index) => ({
                key: rows.keys[index] ?? index,
                name: destination || 'the new fallback',
                head: (
                  <Fallback
                    label={`${rule.title}: fallback ${index + 1}`}
                    path={`${at}[${index}]`}
                    options={options}
                    value={destination}
                    onChange={(value) => rows.set(index, value)}
                  />
                ),
              }))}
              onMove={rows.move}
              onRemove={rows.remove}
            />
            {listField.error !== undefined && <p className="field-error">{listField.error}</p>}
          </div>
        )}
        <div className="row" hidden={fallbacks.length === 0 && routeOf(config, rule) === ''}>
          <Button look="quiet" icon="add" data-path={at} onClick={() => rows.add('')}>
            Add a fallback<span className="unseen"> to {rule.title}</span>
          </Button>
        </div>
      </div>
    </li>
  );
};

const placeholderOf = (rule: Rule, inherited: ConfigFile | undefined): string => {
  const below = inherited ? routeOf(inherited, rule) : '';
  if (below !== '') return `As configured: ${below}`;
  return rule.name === 'default' ? 'provider,model' : 'None: this scenario is skipped';
};

const CompactPrompt = () => {
  const { config, change } = useForm();
  const { Router = {} } = config;
  return (
    <TextArea
      label="Prompt for summaries"
      className="rule-prompt"
      rows={2}
      placeholder="The usual prompt"
      hint="Used where the provider has no compaction of its own."
      {...useField('Router.compactPrompt')}
      value={Router.compactPrompt ?? ''}
      onChange={(value) =>
        change((before) => ({
          ...before,
          Router: withMember(before.Router ?? {}, 'compactPrompt', value === '' ? undefined : value),
        }))
      }
    />
  );
};

const Threshold = () => {
  const { config, change } = useForm();
  const { Router = {} } = config;
  return (
    <NumberField
      label="Threshold (tokens)"
      className="rule-threshold"
      min={0}
      step={1000}
      placeholder="Automatic"
      hint="Default: 90 % of the default model’s window, or 60,000 if that is unknown."
      {...useField('Router.longContextThreshold')}
      value={Router.longContextThreshold}
      onChange={(value) =>
        change((before) => ({ ...before, Router: withMember(before.Router ?? {}, 'longContextThreshold', value) }))
      }
    />
  );
};
