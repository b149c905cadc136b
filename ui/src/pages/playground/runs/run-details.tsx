import { Empty } from '../../../parts/layout/notice.tsx';
import { Pairs } from '../../../parts/text/pairs.tsx';
import type { Run } from './run.ts';
import { allFigures } from './run-figures.tsx';

/** All figures of a run, and the headers of its response, the gateway's own first. */
export const RunDetails = ({ run }: { readonly run: Run }) => {
  const { headers } = run;
  if (headers.length === 0) return <Empty title="No response yet" />;
  const own = headers.filter(([name]) => name.startsWith('x-junctor-'));
  const others = headers.filter(([name]) => !name.startsWith('x-junctor-'));
  return (
    <div className="stack">
      <Pairs pairs={allFigures(run)} />
      <h3>Headers</h3>
      <Pairs pairs={[...own, ...others].map(([name, value]) => [name, value, about[name]] as const)} />
    </div>
  );
};

const about: Readonly<Record<string, string>> = {
  'x-junctor-route': 'the provider and model that served it, and the scenario',
  'x-junctor-loss': 'fields lost in conversion',
  'x-request-id': 'the request’s id in the gateway',
};
