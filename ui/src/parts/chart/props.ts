/** The props of a chart. */
export interface ChartProps {
  /** A sentence that describes it, for screen readers. */
  readonly label: string;
  /** Milliseconds since 1970, rising. */
  readonly times: readonly number[];
  readonly lines: readonly ChartLine[];
  /** What lies between two times, which are in UTC then; absent: seconds, in the time of the browser. */
  readonly step?: 'minute' | 'hour' | 'day' | 'month';
  /** In pixels. */
  readonly height?: number;
}

/** A line of a chart. */
interface ChartLine {
  readonly title: string;
  /** One of the page's colours: `--accent`. */
  readonly colour: string;
  /** One value per time; null where there is none. */
  readonly values: readonly (number | null)[];
  /** Drawn on the scale of the line at this index, without an axis of its own. */
  readonly scaleOf?: number;
  /** How a value is written. */
  readonly format: (value: number) => string;
}
