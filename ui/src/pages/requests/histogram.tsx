import { useState } from 'react';
import { counted, dayAndTime, duration } from '../../format/figures.ts';
import { useWidth } from '../../parts/layout/use-width.ts';
import { changeQuery } from '../../router/route.ts';
import type { RequestFilter } from './request-filter.ts';
import { useHistogram } from './use-requests.ts';

const height = 40;

/** The width of a bar with its gap, in pixels. */
const barPx = 8;

/** The requests over time above their list: how many, how many failed, and 95 % of their durations. A drag is a time range. */
export const Histogram = ({ filter }: { readonly filter: RequestFilter }) => {
  const [frame, width] = useWidth();
  const data = useHistogram(filter, Math.max(10, Math.min(200, Math.floor(width / barPx / 10) * 10)));
  const [drag, setDrag] = useState<{ readonly from: number; readonly to: number }>();
  const [at, setAt] = useState<number>();
  const bars = data?.bars ?? [];
  const most = Math.max(1, ...bars.map(({ requests }) => requests));
  const slowest = Math.max(1, ...bars.map(({ p95Ms = 0 }) => p95Ms));
  const slot = width / Math.max(1, bars.length);
  const y = (share: number): number => height - share * (height - 2);
  const under = ({ clientX, currentTarget }: { readonly clientX: number; readonly currentTarget: Element }): number => {
    const x = clientX - currentTarget.getBoundingClientRect().left;
    return Math.max(0, Math.min(bars.length - 1, Math.floor(x / slot)));
  };
  const choose = (): void => {
    const [first, last] = drag ? [bars[Math.min(drag.from, drag.to)], bars[Math.max(drag.from, drag.to)]] : [];
    setDrag(undefined);
    if (!data || !first || !last || data.barMs < 2) return;
    const end = last.from + data.barMs - 1;
    changeQuery({ from: new Date(first.from).toISOString(), to: new Date(end).toISOString() });
  };
  const told = at === undefined ? undefined : bars[at];
  const all = bars.reduce((sum, { requests }) => sum + requests, 0);
  const failed = bars.reduce((sum, one) => sum + one.failed, 0);
  const line = bars.flatMap(({ p95Ms }, index) =>
    p95Ms === undefined ? [] : [`${((index + 0.5) * slot).toFixed(1)} ${y(p95Ms / slowest).toFixed(1)}`],
  );
  return (
    <div ref={frame} className="request-histogram">
      <svg
        width={width}
        height={height}
        role="img"
        aria-label={`${counted(all, 'request')} over time, ${failed} failed; 95 % of durations up to ${duration(slowest)}`}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          setDrag({ from: under(event), to: under(event) });
        }}
        onPointerMove={(event) => {
          setAt(under(event));
          if (drag) setDrag({ ...drag, to: under(event) });
        }}
        onPointerUp={choose}
        onPointerCancel={() => setDrag(undefined)}
        onPointerLeave={() => setAt(undefined)}
      >
        {drag && (
          <rect
            className="request-range"
            x={Math.min(drag.from, drag.to) * slot}
            width={(Math.abs(drag.to - drag.from) + 1) * slot}
            height={height}
          />
        )}
        {bars.map(({ from, requests, failed: bad }, index) => (
          <g key={from}>
            <rect
              className="request-bar"
              x={index * slot}
              y={y(requests / most)}
              width={Math.max(1, slot - 1)}
              height={height - y(requests / most)}
            />
            {bad > 0 && (
              <rect
                className="request-bar-failed"
                x={index * slot}
                y={Math.min(y(bad / most), height - 2)}
                width={Math.max(1, slot - 1)}
                height={Math.max(2, height - y(bad / most))}
              />
            )}
          </g>
        ))}
        {line.length > 1 && <path className="request-p95" d={`M${line.join('L')}`} />}
      </svg>
      {told && (
        <p className="small">
          {dayAndTime(told.from)}: {counted(told.requests, 'request')}, {told.failed} failed
          {told.p95Ms !== undefined && `, 95 % within ${duration(told.p95Ms)}`} · drag for a time range
        </p>
      )}
    </div>
  );
};
