const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const full = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });

/** The time of day: `14:03:59`. Takes milliseconds since 1970, or ISO 8601. */
export const timeOfDay = (at: number | string): string => clock.format(new Date(at));

/** Day and time: `3 Mar 2026, 14:03:59`. */
export const dayAndTime = (at: number | string): string => full.format(new Date(at));
