import { Empty } from '../../parts/empty.tsx';
import type { Run } from './run.ts';

/** What came before the answer; the gateway's own words first. */
export const RunHeaders = ({ headers }: Pick<Run, 'headers'>) => {
  if (headers.length === 0) return <Empty title="The answer has not begun" />;
  const own = headers.filter(([name]) => name.startsWith('x-switchyard-'));
  const others = headers.filter(([name]) => !name.startsWith('x-switchyard-'));
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
  'x-switchyard-route': 'who served it, and the scenario that led there',
  'x-switchyard-loss': 'fields that the conversion could not carry',
  'x-request-id': 'the name under which the gateway keeps it',
};
