import { lazy, Suspense } from 'react';
import type { ChartProps } from './props.ts';
import './chart.css';

const Plot = lazy(async () => ({ default: (await import('./plot.tsx')).Plot }));

/** A chart of values over time. Its code is loaded when needed. */
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
