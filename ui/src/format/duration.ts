/** A duration in milliseconds, short: `0.42 ms`, `38 ms`, `1.25 s`, `2 min 05 s`. */
export const duration = (ms: number): string => {
  if (ms === 0) return '0 ms';
  if (ms < 0.995) return `${ms.toFixed(2)} ms`;
  if (ms < 9.95) return `${ms.toFixed(1)} ms`;
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(ms < 9_995 ? 2 : 1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ${pad(seconds % 60)} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 1_440) return `${Math.floor(minutes / 60)} h ${pad(minutes % 60)} min`;
  return `${Math.floor(minutes / 1_440)} d ${Math.round((minutes % 1_440) / 60)} h`;
};

const pad = (value: number): string => String(value).padStart(2, '0');
