import { useId } from 'react';
import type { LogFile } from '../../api/logs.ts';
import { bytes } from '../../format/bytes.ts';
import { dayAndTime } from '../../format/time.ts';

/** Picks the log file to show; lists each with size and age. */
export const FilePicker = ({
  files,
  value,
  onChange,
}: {
  readonly files: readonly LogFile[];
  readonly value: string;
  readonly onChange: (name: string) => void;
}) => {
  const group = useId();
  return (
    <fieldset className="log-files">
      <legend className="unseen">Log file</legend>
      {files.map(({ name, size, lastModified }) => (
        <label key={name} className="log-file">
          <input
            type="radio"
            className="unseen"
            name={group}
            checked={name === value}
            onChange={() => onChange(name)}
          />
          <span>
            <b>{name}</b>
            <small>
              {bytes(size)}, {dayAndTime(lastModified)}
            </small>
          </span>
        </label>
      ))}
    </fieldset>
  );
};
