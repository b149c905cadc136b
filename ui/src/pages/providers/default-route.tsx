import { useForm } from '../../config/form.ts';
import { routeOf, rules, withRoute } from '../../config/rules.ts';
import { addressOf } from '../../config/spelling.ts';
import { Button } from '../../parts/button.tsx';
import { Notice } from '../../parts/notice.tsx';

/** The address that stands for the embedded provider, which answers until there is another. */
const demoHost = '//demo.invalid/';

/** Offers the first real provider as the default route, as long as that leads to the embedded one or nowhere. */
export const DefaultRoute = () => {
  const { config, change } = useForm();
  const rule = rules.find(({ name }) => name === 'default');
  const providers = config.Providers ?? [];
  const real = providers.find((one) => one.name && one.models?.[0] && !addressOf(one).includes(demoHost));
  if (!rule || !real) return null;
  const present = routeOf(config, rule);
  const leadsToDemo = providers.some((one) => addressOf(one).includes(demoHost) && present.startsWith(`${one.name},`));
  if (present !== '' && !leadsToDemo) return null;
  const destination = `${real.name},${real.models?.[0]}`;
  return (
    <Notice
      title={leadsToDemo ? 'Requests still go to the demo' : 'Requests have no default route yet'}
      actions={
        <Button look="primary" onClick={() => change((before) => withRoute(before, rule, destination))}>
          Make {destination} the default
        </Button>
      }
    >
      The default route answers whatever no other rule takes.
    </Notice>
  );
};
