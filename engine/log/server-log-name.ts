const prefix = 'switchyard';
const pattern = new RegExp(`^${prefix}-\\d{14}\\.log$`);

/** Whether a file in `logs/` is one of the server log's own: `switchyard-{YYYYMMDD}{HH}{MM}{SS}.log`. */
export const isServerLogName = (name: string): boolean => pattern.test(name);

/** The name of a server log file begun at `at`, in local time, to which days are counted as well. */
export const serverLogName = (at: Date): string => `${prefix}-${dayStamp(at)}${timeStamp(at)}.log`;

/** Whether the file of this name was begun on the day of `at`. */
export const isOfDay = (name: string, at: Date): boolean => name.startsWith(`${prefix}-${dayStamp(at)}`);

const dayStamp = (at: Date): string => `${pad(at.getFullYear(), 4)}${pad(at.getMonth() + 1)}${pad(at.getDate())}`;

const timeStamp = (at: Date): string => `${pad(at.getHours())}${pad(at.getMinutes())}${pad(at.getSeconds())}`;

const pad = (value: number, length = 2): string => String(value).padStart(length, '0');
