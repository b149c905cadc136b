import type { ProviderFile } from '../../api/config/config.ts';
import { isFailing } from '../../api/requests/requests.ts';
import type { Upstream } from '../../api/upstreams.ts';
import { useForm } from '../../config/fields/form.ts';
import { FindingsBadge } from '../../config/problems.tsx';
import { isLiteralKey } from '../../config/reference.ts';
import { addressOf, commandOf, isDemo, keysOf } from '../../config/spelling.ts';
import { count, counted, duration, usd } from '../../format/figures.ts';
import { Badge } from '../../parts/text/badge.tsx';
import { atLeast, type UsageFigures } from '../usage/usage-view.ts';
import { formatOf } from './format-entry.ts';

/** The summary line of a provider. */
export const ProviderHead = ({
  provider,
  at,
  formats,
  upstream,
  figures,
}: {
  readonly provider: ProviderFile;
  readonly at: number;
  /** Names of all formats. */
  readonly formats: readonly string[];
  readonly upstream: Upstream | undefined;
  /** Of the chosen time; `undefined`: not known yet. */
  readonly figures: UsageFigures | 'none' | undefined;
}) => {
  const { config } = useForm();
  const { name = '', models = [] } = provider;
  const keys = keysOf(provider);
  const format = formatOf(config, name, formats);
  return (
    <>
      <strong>{name || 'New provider'}</strong>
      <span className="soft small cut provider-address">
        {isDemo(provider) ? 'built-in demo' : addressOf(provider) || 'no base URL yet'}
      </span>
      <span className="row row-end">
        <FindingsBadge path={`Providers[${at}]`} />
        {upstream && <State upstream={upstream} />}
        {format !== undefined && <Badge>{format}</Badge>}
        <Badge>{counted(models.length, 'model')}</Badge>
        {keys.some((key) => typeof key === 'string' && isLiteralKey(key)) && (
          <Badge tone="warn">key in plain text</Badge>
        )}
        {keys.some((key) => commandOf(key) !== undefined) && <Badge>key by command</Badge>}
        {keys.length > 1 && <Badge>{counted(keys.length, 'key')}</Badge>}
      </span>
      {figures === 'none' ? (
        <span className="provider-figures small soft">
          <span>no requests</span>
        </span>
      ) : (
        figures && <Figures figures={figures} />
      )}
    </>
  );
};

/** What it served. */
const Figures = ({ figures: { requests, errors, durationMs, cost, unpriced } }: { readonly figures: UsageFigures }) => (
  <span className="provider-figures small">
    <span>{counted(requests, 'request')}</span>
    <span>
      {isFailing({ requests, failed: errors }) ? (
        <Badge tone="bad">{errors === requests ? 'all failed' : `${count(errors)} failed`}</Badge>
      ) : (
        `${count(errors)} failed`
      )}
    </span>
    <span>p95 {durationMs ? duration(durationMs.p95) : '–'}</span>
    <span>{atLeast(cost, unpriced, usd)}</span>
  </span>
);

const State = ({ upstream: { models, keys } }: { readonly upstream: Upstream }) => {
  // One whose time is over lets the next request through.
  const open = models.filter(({ breaker, waitMs }) => breaker !== 'closed' && waitMs > 0).length;
  const resting = keys.filter(({ rest }) => rest !== null).length;
  if (open > 0) return <Badge tone="bad">{counted(open, 'breaker')} open</Badge>;
  if (resting > 0) return <Badge tone="warn">{counted(resting, 'key')} cooling down</Badge>;
  return null;
};
