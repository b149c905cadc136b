import { lazy, Suspense } from 'react';
import './chart.css';

const Plot = lazy(async () => ({ default: (await import('./plot.tsx')).Plot }));

/** A line of a chart. */
export interface ChartLine {
  readonly title: string;
  /** One of the page's colours: `--accent`. */
  readonly colour: string;
  /** One value per time; null where there is none. */
  readonly values: readonly (number | null)[];
  /** How a value is written. */
  readonly format: (value: number) => string;
}

/** What a chart shows. */
export interface ChartProps {
  /** What it shows, in a sentence: it stands in for the drawing. */
  readonly label: string;
  /** Milliseconds since 1970, rising. */
  readonly times: readonly number[];
  readonly lines: readonly ChartLine[];
  /** In pixels. */
  readonly height?: number;
}

/** Values over time. Its code is fetched when it is first needed. */
export const Chart = (props: ChartProps) => {
  const { height = 120, label } = props;
  return (
    <div className="chart" role="img" aria-label={label} style={{ height }}>
      <Suspense fallback={null}>
        <Plot {...props} height={height} />
      </Suspense>
    </div>
  );
};
