/** Where one log's files lie, under the names that users see. Methods throw what the file system says. */
export interface LogPlace {
  /** Path for messages about this log. */
  readonly name: string;
  /** Folder for pino-roll's own names; nothing else may lie in it. */
  readonly rollFolder: string;
  /** At this size, in bytes, the next file is begun. */
  readonly maxBytes: number;
  /** When the next file is begun whatever the size: each midnight, or after so many milliseconds. */
  readonly frequency?: 'daily' | number;
  /** The file to go on with after a start; none if the next one is due. */
  readonly current: () => string | undefined;
  /** Makes room for one more file and gives the name that it is to have. */
  readonly next: () => string;
  /** Called when `path` is the file in use: removes those that are too many. */
  readonly prune: (path: string) => void;
}
