/** Memory at a time. */
interface Sample {
  readonly minutes: number;
  readonly megabytes: number;
}

/** The slope through the samples by least squares, and twice its standard error, both in megabytes an hour. */
export const slopeOf = (samples: readonly Sample[]): { readonly perHour: number; readonly uncertainty: number } => {
  const { length } = samples;
  if (length < 3) return { perHour: 0, uncertainty: Number.POSITIVE_INFINITY };
  const mean = (of: (sample: Sample) => number): number =>
    samples.reduce((sum, sample) => sum + of(sample), 0) / length;
  const at = mean(({ minutes }) => minutes);
  const level = mean(({ megabytes }) => megabytes);
  const spread = mean(({ minutes }) => (minutes - at) ** 2) * length;
  const slope = (mean(({ minutes, megabytes }) => (minutes - at) * (megabytes - level)) * length) / spread;
  const rest = mean(({ minutes, megabytes }) => (megabytes - level - slope * (minutes - at)) ** 2) * length;
  return { perHour: slope * 60, uncertainty: 2 * Math.sqrt(rest / (length - 2) / spread) * 60 };
};
