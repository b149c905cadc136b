import { withMember } from '../../../config/fields/field-path.ts';
import { useField, useForm } from '../../../config/fields/form.ts';
import {
  fallbackPath,
  fallbacksOf,
  type Rule,
  routeOf,
  routePath,
  withFallbacks,
  withRoute,
} from '../../../config/rules.ts';
import { NumberField, TextArea } from '../../../parts/controls/field.tsx';
import { DestinationsField } from './destinations-field.tsx';

/** The form for a scenario or the default: where it leads, and what only this scenario has. */
export const ScenarioForm = ({ rule }: { readonly rule: Rule }) => {
  const { config, change, inherited } = useForm();
  const fallbacks = fallbackPath(config, rule);
  const below = inherited ? routeOf(inherited, rule) : '';
  const unset = rule.name === 'default' ? 'provider,model' : 'None: this scenario is skipped';
  return (
    <div className="stack">
      <p className="soft">{rule.fits}</p>
      <DestinationsField
        value={[routeOf(config, rule), ...fallbacksOf(config, rule)]}
        pathOf={(at) => (at === 0 ? routePath(config, rule) : `${fallbacks}[${at - 1}]`)}
        listPath={fallbacks}
        placeholder={below === '' ? unset : `As in the base: ${below}`}
        onChange={([to = '', ...others]) =>
          change((before) => withFallbacks(withRoute(before, rule, to), rule, others))
        }
      />
      {rule.name === 'compact' && <CompactPrompt />}
      {rule.name === 'longContext' && <Threshold />}
    </div>
  );
};

const CompactPrompt = () => {
  const { config, change } = useForm();
  const { Router = {} } = config;
  return (
    <TextArea
      label="Prompt for summaries"
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
