import type { ConfigFile } from '../../api/config/config.ts';
import { ownRulesOf } from '../../config/conditions.ts';
import { hasDefault, routeOf, rules } from '../../config/rules.ts';
import { counted } from '../../format/count.ts';
import { Notice } from '../../parts/layout/notice.tsx';
import { href } from '../../router/route.ts';

/** Where requests go that name no model of the gateway. */
export const WayByRules = ({ config }: { readonly config: ConfigFile }) => {
  const ways = rules.flatMap((rule) => {
    const to = routeOf(config, rule);
    return to === '' ? [] : [{ ...rule, to }];
  });
  const own = ownRulesOf(config).length;
  const link = <a href={href('/routing')}>Routing</a>;
  if (!hasDefault(config)) {
    return (
      <Notice kind="warn" title="No default route yet">
        A request that matches no rule fails. Set one on {link}.
      </Notice>
    );
  }
  return (
    <Notice title="Each request goes where the rules say">
      <ul className="connect-ways" aria-label="Routes">
        {own > 0 && <li>{counted(own, 'rule')} of your own, first</li>}
        {ways.map(({ name, title, to }) => (
          <li key={name}>
            {title} → <code>{to}</code>
          </li>
        ))}
      </ul>
      <p className="soft small">Change them on {link}; clients need no change.</p>
    </Notice>
  );
};
