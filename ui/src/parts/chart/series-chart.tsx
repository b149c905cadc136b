import { type PointerEvent, useState } from 'react';
import { useWidth } from '../layout/use-width.ts';
import './series-chart.css';

/** A series, drawn in one colour. */
interface Series {
  readonly title: string;
  /** One for each time; null: unknown. */
  readonly values: readonly (number | null)[];
}

interface SeriesChartProps {
  /** Description of the drawing, in a sentence. */
  readonly label: string;
  /** The starts of the steps, in milliseconds since 1970. */
  readonly times: readonly number[];
  readonly step: 'minute' | 'hour' | 'day' | 'month';
  /** At most six. */
  readonly series: readonly Series[];
  /** Additional text of each time. */
  readonly notes: readonly (string | undefined)[];
  /** Bars on top of each other; without it, lines: values that can't be added. */
  readonly stacked: boolean;
  readonly format: (value: number) => string;
  /** A place was chosen: the index of its time, and of the series that is drawn there. */
  readonly onPick: (at: number, series: number | undefined) => void;
}

/** The colour of the series at an index. */
const seriesColour = (at: number): string => `var(--series-${at + 1})`;

const height = 208;
const head = 8;
const foot = 24;
const labelPx = 96;
const plotPx = height - head - foot;

/** Values over local time as stacked bars or as lines. The one at the pointer is read out beside it. */
export const SeriesChart = ({ label, times, step, series, notes, stacked, format, onPick }: SeriesChartProps) => {
  const [ref, width] = useWidth();
  const [at, setAt] = useState<number>();
  const top = topOf(times, series, stacked);
  const ticks = top === 0 ? [0] : [0, 0.5, 1].map((share) => share * top);
  const left = 12 + 6.5 * Math.max(...ticks.map((tick) => format(tick).length));
  const slot = Math.max(0, width - left) / Math.max(1, times.length);
  const y = (value: number): number => head + plotPx * (1 - (top === 0 ? 0 : value / top));
  const every = Math.max(1, Math.ceil(labelPx / Math.max(slot, 0.1)));
  const shown = at === undefined ? undefined : times[at];
  const isDrawn = (index: number): boolean => series.some(({ values }) => values[index]);
  const under = ({ clientX, currentTarget }: PointerEvent): number | undefined => {
    const index = Math.floor((clientX - currentTarget.getBoundingClientRect().left - left) / slot);
    return index >= 0 && index < times.length ? index : undefined;
  };
  return (
    <div
      ref={ref}
      className="series-chart"
      onPointerMove={(event) => setAt(under(event))}
      onPointerLeave={() => setAt(undefined)}
      onPointerUp={(event) => {
        const index = under(event);
        const picked = event.target instanceof SVGElement ? event.target.dataset.series : undefined;
        if (index !== undefined && isDrawn(index) && event.button === 0)
          onPick(index, picked === undefined ? undefined : Number(picked));
      }}
    >
      <svg width={width} height={height} role="img" aria-label={label}>
        {ticks.map((tick) => (
          <g key={tick}>
            <line className="series-grid" x1={left} x2={width} y1={y(tick)} y2={y(tick)} />
            <text x={left - 8} y={y(tick) + 4} textAnchor="end">
              {format(tick)}
            </text>
          </g>
        ))}
        {times.map(
          (ms, index) =>
            index % every === 0 &&
            (index === 0 || left + index * slot + labelPx * 0.8 < width) && (
              <text key={ms} x={left + index * slot} y={height - 6}>
                {timeFormats[step].format(ms)}
              </text>
            ),
        )}
        {at !== undefined && <rect className="series-at" x={left + at * slot} y={head} width={slot} height={plotPx} />}
        {series.map(({ title, values }, index) => (
          <path
            key={title}
            data-series={index}
            d={stacked ? barsOf(series, index, left, slot, y) : lineOf(values, left, slot, y)}
            {...(stacked ? { fill: seriesColour(index) } : { className: 'series-line', stroke: seriesColour(index) })}
          />
        ))}
      </svg>
      {at !== undefined && shown !== undefined && (notes[at] || isDrawn(at)) && (
        <div className="series-tip" style={{ left: Math.min(left + (at + 1) * slot + 8, Math.max(0, width - 240)) }}>
          <p>{tipFormat.format(shown)}</p>
          <dl>
            {series.map(({ title, values }, index) => {
              const value = values[at];
              return value ? (
                <div key={title}>
                  <dt className="cut">
                    <SeriesKey at={index} />
                    {title}
                  </dt>
                  <dd>{format(value)}</dd>
                </div>
              ) : null;
            })}
          </dl>
          {notes[at] && <p className="soft">{notes[at]}</p>}
        </div>
      )}
    </div>
  );
};

/** The colour of a series, beside its name. */
export const SeriesKey = ({ at }: { readonly at: number }) => (
  <span className="series-key" style={{ background: seriesColour(at) }} aria-hidden="true" />
);

const clock = { hour: '2-digit', minute: '2-digit', hour12: false } as const;
const day = { day: 'numeric', month: 'short' } as const;
const timeFormats = {
  minute: new Intl.DateTimeFormat('en-GB', clock),
  hour: new Intl.DateTimeFormat('en-GB', { ...day, ...clock }),
  day: new Intl.DateTimeFormat('en-GB', day),
  month: new Intl.DateTimeFormat('en-GB', { month: 'short', year: 'numeric' }),
} as const;
const tipFormat = new Intl.DateTimeFormat('en-GB', { weekday: 'short', ...day, ...clock });

const topOf = (times: readonly number[], series: readonly Series[], stacked: boolean): number => {
  const most = Math.max(
    ...times.map((_, at) => {
      const values = series.map((one) => one.values[at] ?? 0);
      return stacked ? values.reduce((sum, value) => sum + value, 0) : Math.max(0, ...values);
    }),
    0,
  );
  if (most === 0) return 0;
  const power = 10 ** Math.floor(Math.log10(most));
  return power * ([1, 2, 4, 6, 8].find((factor) => factor * power >= most) ?? 10);
};

type Scale = (value: number) => number;

/** The bars of one series, on top of those before it, as one path. */
const barsOf = (series: readonly Series[], index: number, left: number, slot: number, y: Scale): string => {
  const width = Math.max(0.5, slot - (slot > 6 ? 2 : slot > 3 ? 1 : 0));
  const below = series.slice(0, index);
  return (series[index]?.values ?? [])
    .map((value, at) => {
      if (!value) return '';
      const base = below.reduce((sum, { values }) => sum + (values[at] ?? 0), 0);
      const [from, to] = [y(base), y(base + value)];
      return `M${(left + at * slot).toFixed(1)} ${from.toFixed(1)}h${width.toFixed(1)}V${to.toFixed(1)}h${(-width).toFixed(1)}z`;
    })
    .join('');
};

/** A line that has a gap where a value is unknown. */
const lineOf = (values: readonly (number | null)[], left: number, slot: number, y: Scale): string =>
  values
    .map((value, at) => {
      if (value === null) return '';
      const place = `${(left + (at + 0.5) * slot).toFixed(1)} ${y(value).toFixed(1)}`;
      if ((values[at - 1] ?? null) !== null) return `L${place}`;
      // A value with none beside it is a ring.
      return (values[at + 1] ?? null) === null ? `M${place}m-2 0a2 2 0 1 0 4 0a2 2 0 1 0 -4 0` : `M${place}`;
    })
    .join('');
