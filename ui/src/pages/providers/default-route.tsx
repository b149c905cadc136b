import { useForm } from '../../config/fields/form.ts';
import { modelNames } from '../../config/models.ts';
import { routeOf, rules, withRoute } from '../../config/rules.ts';
import { isDemo } from '../../config/spelling.ts';
import { Button } from '../../parts/controls/button.tsx';
import { Notice } from '../../parts/layout/notice.tsx';

/** Offers the first real provider as the default route while that is unset or the demo. */
export const DefaultRoute = () => {
  const { config, change } = useForm();
  const rule = rules.find(({ name }) => name === 'default');
  const providers = config.Providers ?? [];
  const real = providers.find((one) => one.name && one.models?.[0] && !isDemo(one));
  if (!rule || !real) return null;
  const present = routeOf(config, rule);
  const leadsToDemo = providers.some((one) => isDemo(one) && present.startsWith(`${one.name},`));
  if (present !== '' && !leadsToDemo) return null;
  const destination = `${real.name},${modelNames(real)[0]}`;
  return (
    <Notice
      title={leadsToDemo ? 'Requests still go to the demo' : 'No default route yet'}
      actions={
        <Button look="primary" onClick={() => change((before) => withRoute(before, rule, destination))}>
          Make {destination} the default
        </Button>
      }
    >
      The default route serves requests that match no other rule.
    </Notice>
  );
};
