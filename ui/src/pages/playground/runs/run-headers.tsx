import { Empty } from '../../../parts/layout/empty.tsx';
import type { Run } from './run.ts';

/** The response headers, the gateway's own first. */
export const RunHeaders = ({ headers }: Pick<Run, 'headers'>) => {
  if (headers.length === 0) return <Empty title="No response yet" />;
  const own = headers.filter(([name]) => name.startsWith('x-junctor-'));
  const others = headers.filter(([name]) => !name.startsWith('x-junctor-'));
  return (
    <dl className="run-headers">
      {[...own, ...others].map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            {value}
            {about[name] && <small>{about[name]}</small>}
          </dd>
        </div>
      ))}
    </dl>
  );
};

const about: Readonly<Record<string, string>> = {
  'x-junctor-route': 'the provider and model that served it, and the scenario',
  'x-junctor-loss': 'fields lost in conversion',
  'x-request-id': 'the request’s id in the gateway',
};
