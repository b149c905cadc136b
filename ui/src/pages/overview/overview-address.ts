import { type Protocol, protocols } from '../../api/protocols.ts';
import { href, route } from '../../router/route.ts';

/** What the Overview's lines are filtered by. */
interface OverviewView {
  readonly protocol?: Protocol | undefined;
  /** One destination: `provider,model`. */
  readonly line?: string | undefined;
}

/** The address of a view; the list below it keeps its filters. */
export const overviewAddress = ({ protocol, line }: OverviewView): string => {
  const query = new URLSearchParams(route.get().query);
  for (const [name, value] of [
    ['client', protocol],
    ['line', line],
  ] as const) {
    if (value) query.set(name, value);
    else query.delete(name);
  }
  return query.size > 0 ? `${href('/requests')}?${query}` : href('/requests');
};

/** The view of an address. */
export const viewOf = (query: URLSearchParams): OverviewView => ({
  protocol: protocols.find((name) => name === query.get('client')),
  line: query.get('line') ?? undefined,
});
