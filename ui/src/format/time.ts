const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const full = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });

const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' });

/** A time in a list: of today `14:03:59`, else `3 Mar, 14:03`. Takes milliseconds since 1970. */
export const listTime = (at: number): string => {
  const time = new Date(at);
  return time.toDateString() === new Date().toDateString() ? clock.format(time) : day.format(time);
};

/** The time of day: `14:03:59`. Takes milliseconds since 1970, or ISO 8601. */
export const timeOfDay = (at: number | string): string => clock.format(new Date(at));

/** Day and time: `3 Mar 2026, 14:03:59`. */
export const dayAndTime = (at: number | string): string => full.format(new Date(at));
