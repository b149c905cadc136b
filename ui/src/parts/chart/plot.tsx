import { useEffect, useRef } from 'react';
import uPlot from 'uplot';
import { useIsDark } from '../../shell/theme.ts';
import type { ChartProps } from './props.ts';
import './plot.css';

/** The plot, loaded by `Chart`. */
export const Plot = ({ times, lines, step, height = 120 }: ChartProps) => {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const isDark = useIsDark();
  const shape = lines.map(({ title, colour }) => `${title} ${colour}`).join();
  const newest = useRef({ times, lines });
  newest.current = { times, lines };

  // biome-ignore lint/correctness/useExhaustiveDependencies: other colours or lines redraw it
  useEffect(() => {
    const element = place.current;
    if (!element) return;
    const chart = new uPlot(options(element, newest.current.lines, height, step), dataOf(newest.current), element);
    plot.current = chart;
    const resized = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height }));
    resized.observe(element);
    return () => {
      resized.disconnect();
      chart.destroy();
    };
  }, [shape, height, isDark, step]);

  useEffect(() => {
    plot.current?.setData(dataOf({ times, lines }));
  }, [times, lines]);

  return <div ref={place} className="plot" />;
};

const dataOf = ({ times, lines }: Pick<ChartProps, 'times' | 'lines'>): uPlot.AlignedData => [
  times.map((atMs) => atMs / 1000),
  ...lines.map(({ values }) => [...values]),
];

/** How a time is written below the chart. */
const timeFormats = {
  minute: '{HH}:{mm}',
  hour: '{MM}-{DD} {HH}:{mm}',
  day: '{MM}-{DD}',
  month: '{YYYY}-{MM}',
} as const;

const options = (
  element: HTMLElement,
  lines: ChartProps['lines'],
  height: number,
  step: ChartProps['step'],
): uPlot.Options => {
  const colour = (name: string): string => colourOf(element, name);
  const axis = {
    stroke: colour('--ink-soft'),
    grid: { stroke: colour('--line'), width: 1 },
    ticks: { show: false },
    font: '11px system-ui',
  };
  return {
    width: element.clientWidth,
    height,
    // The last label reaches beyond its step.
    padding: [8, step ? 36 : 4, 0, 0],
    legend: { show: false },
    ...(step && { tzDate: (seconds: number) => uPlot.tzDate(new Date(seconds * 1000), 'UTC') }),
    cursor: { y: false, points: { size: 6 } },
    scales: { x: { time: true }, ...Object.fromEntries(lines.map((_, index) => [`y${index}`, { range: fromZero }])) },
    axes: [
      {
        ...axis,
        space: step === 'hour' ? 90 : 70,
        size: 22,
        values: step ? timeFormats[step] : '{HH}:{mm}:{ss}',
        grid: { show: false },
      },
      ...lines.flatMap((line, index): readonly uPlot.Axis[] => {
        if (line.scaleOf !== undefined) return [];
        const own = {
          ...axis,
          scale: `y${index}`,
          side: index === 0 ? 3 : 1,
          size: axisWidth,
          space: 28,
          grid: index === 0 ? axis.grid : { show: false },
          // Without any value, the scale is arbitrary.
          values: ({ data }: uPlot, splits: readonly number[]) =>
            splits.map((value) => (value > 0 && !data[index + 1]?.some(Boolean) ? '' : line.format(value))),
        };
        return [own];
      }),
    ],
    series: [
      {},
      ...lines.map(
        (line, index): uPlot.Series => ({
          label: line.title,
          scale: `y${line.scaleOf ?? index}`,
          stroke: colour(line.colour),
          width: 1.5,
          points: { show: line.values.includes(null), size: 4, filter: isolated },
          ...(index === 0 && { fill: `color-mix(in oklab, ${colour(line.colour)}, transparent 85%)` }),
        }),
      ),
    ],
  };
};

/** Room for the longest label: costs may have many digits. */
const axisWidth = (_: uPlot, labels: readonly string[] | null): number =>
  Math.max(52, ...(labels ?? []).map((label) => 14 + 6.5 * label.length));

/** Values between two gaps have no line, so they are drawn as points. */
const isolated = ({ data }: uPlot, series: number): number[] => {
  const values = data[series] ?? [];
  return [...values.keys()].filter((at) => values[at] != null && values[at - 1] == null && values[at + 1] == null);
};

const fromZero = (_: uPlot, __: number, max: number): [number, number] => [0, max > 0 ? max * 1.15 : 1];

/** A canvas can't use custom properties: the browser resolves the colour. */
const colourOf = (element: HTMLElement, name: string): string => {
  const probe = document.createElement('span');
  probe.style.color = `var(${name})`;
  element.append(probe);
  const { color } = window.getComputedStyle(probe);
  probe.remove();
  return color;
};
