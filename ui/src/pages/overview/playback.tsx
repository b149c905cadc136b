import { useCallback, useEffect, useState } from 'react';
import { type Activity, readActivity } from '../../api/requests/activity.ts';
import type { RequestSummary } from '../../api/requests/requests.ts';
import { useLoad } from '../../api/use-load.ts';
import { timeOfDay } from '../../format/time.ts';
import { Button } from '../../parts/controls/button.tsx';
import { LoadFailed } from '../../parts/layout/load-failed.tsx';

const minutes = 60;
const minuteMs = 60_000;
/** How long a minute is shown while it plays, in milliseconds. */
const playMs = 500;

/** Shows the traffic of the last hour in the drawing, minute by minute. */
export const Playback = ({ onShow }: { readonly onShow: (past: Activity | undefined) => void }) => {
  const [at, setAt] = useState(0);
  const [plays, setPlays] = useState(true);
  const {
    data: hour,
    error,
    reload,
  } = useLoad(useCallback((signal: AbortSignal) => readActivity(signal, minutes), []));
  const isOver = at >= minutes - 1;
  useEffect(() => {
    if (!hour || !plays || isOver) return undefined;
    const timer = window.setInterval(() => setAt((before) => Math.min(minutes - 1, before + 1)), playMs);
    return () => window.clearInterval(timer);
  }, [hour, plays, isOver]);
  useEffect(() => {
    if (hour) onShow(minuteOf(hour, at));
  }, [hour, at, onShow]);
  useEffect(() => () => onShow(undefined), [onShow]);
  if (error !== undefined) return <LoadFailed what="the last hour" error={error} onRetry={reload} />;
  if (!hour) return null;
  const time = timeOfDay(startOf(hour, at));
  return (
    <div className="playback">
      <Button
        icon={plays && !isOver ? 'stop' : 'play'}
        onClick={() => {
          if (isOver) setAt(0);
          setPlays(isOver || !plays);
        }}
      >
        {plays && !isOver ? 'Pause' : 'Play'}
      </Button>
      <input
        type="range"
        aria-label="Minute of the last hour"
        aria-valuetext={time}
        min={0}
        max={minutes - 1}
        value={at}
        onChange={(event) => {
          setPlays(false);
          setAt(Number(event.target.value));
        }}
      />
      <span className="mono small">{time}</span>
    </div>
  );
};

/** The beginning of a minute, in milliseconds since 1970. */
const startOf = ({ now }: Activity, at: number): number => (Math.floor(now / minuteMs) - (minutes - 1 - at)) * minuteMs;

/** The activity of one minute, in the form of the present one. */
const minuteOf = (hour: Activity, at: number): Activity => ({
  ...hour,
  now: startOf(hour, at),
  inFlight: [],
  inFlightCount: 0,
  lines: (hour.traffic?.lines ?? []).map(({ began, failed, ...line }) => ({
    ...line,
    requests: began[at] ?? 0,
    errors: failed[at] ?? 0,
    losses: 0,
    active: 0,
    perSecond: (began[at] ?? 0) / 60,
  })),
});

/** The requests that began in the minute that is shown: their times are known as far as their summaries are kept. */
export const requestsOf = (past: Activity, requests: readonly RequestSummary[]): readonly RequestSummary[] =>
  requests.filter(({ startedAt }) => {
    const sinceMs = new Date(startedAt).getTime() - past.now;
    return sinceMs >= 0 && sinceMs < minuteMs;
  });
