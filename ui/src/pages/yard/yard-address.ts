import { type Protocol, protocols } from '../../api/protocols.ts';
import { href } from '../../router/route.ts';

/** What the Yard's lines are filtered by. */
interface YardView {
  readonly protocol?: Protocol | undefined;
  /** One destination: `provider,model`. */
  readonly line?: string | undefined;
}

/** The address of a view. */
export const yardAddress = ({ protocol, line }: YardView): string => {
  const query = new URLSearchParams({ ...(protocol && { client: protocol }), ...(line && { line }) });
  return query.size > 0 ? `${href('/')}?${query}` : href('/');
};

/** The view of an address. */
export const viewOf = (query: URLSearchParams): YardView => ({
  protocol: protocols.find((name) => name === query.get('client')),
  line: query.get('line') ?? undefined,
});
