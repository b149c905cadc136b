import type { Transformer } from '../../../api/config/transformers.ts';
import type { Entry } from '../../../config/draft/entry.ts';
import { FindingsBadge } from '../../../config/problems.tsx';
import { counted } from '../../../format/figures.ts';
import { Badge, Lamp } from '../../../parts/text/badge.tsx';

const kinds = { format: 'format', stage: 'stage', custom: 'custom' } as const;

/** The summary line of an entry: kind, scope, state. */
export const EntryHead = ({
  entry,
  at,
  known,
}: {
  readonly entry: Entry;
  readonly at: number;
  readonly known: Transformer | undefined;
}) => {
  const { name, path: file, provider, models, when, onError, options = {} } = entry;
  const given = Object.keys(options).length;
  return (
    <>
      <strong className={name === undefined ? 'mono' : undefined}>{name ?? (file || 'New transformer')}</strong>
      <span className="soft small">{scope(provider, models)}</span>
      <span className="row row-end">
        <FindingsBadge path={`transformers[${at}]`} />
        {known?.state === 'failed' && <Lamp tone="bad">not loaded</Lamp>}
        {known?.state === 'stale' && <Lamp tone="bad">change not loaded</Lamp>}
        {known?.kind === 'custom' && known.state === 'loaded' && <Lamp tone="ok">loaded</Lamp>}
        {known && known.kind !== 'format' && <Halves halves={known.halves} />}
        {when !== undefined && <Badge>with a condition</Badge>}
        {onError === 'skip' && <Badge>may be left out</Badge>}
        {given > 0 && <Badge>{counted(given, 'option')}</Badge>}
        <Badge tone={known?.kind === 'format' ? 'accent' : 'plain'}>
          {known ? kinds[known.kind] : file === undefined ? 'unknown' : kinds.custom}
        </Badge>
      </span>
    </>
  );
};

const scope = (provider: string | undefined, models: readonly string[] | undefined): string => {
  const who = provider === undefined ? 'all providers' : provider;
  return models === undefined ? `for ${who}` : `for ${models.join(', ') || 'no model'} of ${who}`;
};

const Halves = ({ halves: { request, events, call, around } }: Pick<Transformer, 'halves'>) => {
  if (around) return <Badge>around the call</Badge>;
  if (request === events && !call) return null;
  const parts = [request && 'requests', call && 'calls', events && 'responses'].filter(Boolean);
  return parts.length === 3 ? null : <Badge>{parts.join(' and ')} only</Badge>;
};
