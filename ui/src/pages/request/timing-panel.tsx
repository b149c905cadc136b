import type { Capture } from '../../api/requests.ts';
import { duration } from '../../format/duration.ts';
import { Panel } from '../../parts/panel.tsx';

/** What goes on before each moment, and whose time it is. */
const spans: Readonly<Record<string, { readonly title: string; readonly whose: 'ours' | 'theirs' | 'stream' }>> = {
  decoded: { title: 'Read the request', whose: 'ours' },
  routed: { title: 'Pick the line', whose: 'ours' },
  encoded: { title: 'Stages, write the call', whose: 'ours' },
  called: { title: 'Hand it over', whose: 'ours' },
  upstreamHead: { title: 'Wait for the provider', whose: 'theirs' },
  firstChunk: { title: 'Wait for its first bytes', whose: 'theirs' },
  firstByte: { title: 'Convert them', whose: 'ours' },
  end: { title: 'The answer', whose: 'stream' },
};

/** Where the time went: one bar for each step, at its place in the whole. */
export const TimingPanel = ({ timing }: { readonly timing: Capture['timing'] }) => {
  const whole = Math.max(timing.at(-1)?.atMs ?? 0, 0.001);
  return (
    <Panel title="Timing" about={`${duration(whole)} in all`}>
      <ol className="timing">
        {timing.slice(1).map(({ name, atMs }, index) => {
          const fromMs = timing[index]?.atMs ?? 0;
          const { title, whose } = spans[name] ?? { title: name, whose: 'ours' };
          return (
            <li key={name}>
              <span>{title}</span>
              <span className="timing-track" aria-hidden="true">
                <span
                  className={`timing-bar timing-${whose}`}
                  style={{
                    insetInlineStart: `${(fromMs / whole) * 100}%`,
                    width: `${((atMs - fromMs) / whole) * 100}%`,
                  }}
                />
              </span>
              <span className="number">{duration(Math.max(0, atMs - fromMs))}</span>
            </li>
          );
        })}
      </ol>
    </Panel>
  );
};
