const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const full = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });

/** The time of day: `14:03:59`. Takes milliseconds since 1970, or ISO 8601. */
export const timeOfDay = (at: number | string): string => clock.format(new Date(at));

/** A time in ISO 8601 as the value of an `<input type="datetime-local">`; empty for anything else. */
export const localTime = (iso: string): string => {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return '';
  const local = new Date(at.getTime() - at.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 'yyyy-mm-ddThh:mm'.length);
};

/** The time of such a value in ISO 8601; empty if it is empty. */
export const isoTime = (local: string): string => {
  const at = new Date(local);
  return Number.isNaN(at.getTime()) ? '' : at.toISOString();
};

/** Day and time: `3 Mar 2026, 14:03:59`. */
export const dayAndTime = (at: number | string): string => full.format(new Date(at));
