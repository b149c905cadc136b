import { useRef } from 'react';
import { CheckField, SelectField, TextField } from '../../parts/controls/field.tsx';
import { useShortcut } from '../../state/shortcuts.ts';
import type { LogFilter } from './log-filter.ts';
import { levelName } from './log-record.ts';

/** The filter's fields. `hasOwn`: the file may hold calls of this page, which can be hidden. */
export const FilterFields = ({
  filter,
  onChange,
  hasOwn,
}: {
  readonly filter: LogFilter;
  readonly onChange: (part: Partial<LogFilter>) => void;
  readonly hasOwn: boolean;
}) => {
  const find = useRef<HTMLInputElement>(null);
  useShortcut('/', 'Search the log', () => find.current?.focus());
  return (
    <>
      <SelectField
        label="Level"
        unlabelled
        value={String(filter.level)}
        options={levelChoices}
        onChange={(level) => onChange({ level: Number(level) })}
      />
      <SelectField
        label="Time"
        unlabelled
        value={String(filter.minutes)}
        options={timeChoices}
        onChange={(minutes) => onChange({ minutes: Number(minutes) })}
      />
      <TextField
        label="Find"
        unlabelled
        type="search"
        placeholder="Find ( / )"
        ref={find}
        value={filter.text}
        onChange={(text) => onChange({ text })}
      />
      {hasOwn && (
        <CheckField
          label="Hide this page’s calls"
          checked={filter.withoutOwn}
          onChange={(withoutOwn) => onChange({ withoutOwn })}
        />
      )}
    </>
  );
};

const timeChoices = [
  { value: '0', label: 'Any time' },
  { value: '5', label: 'Last 5 minutes' },
  { value: '60', label: 'Last hour' },
  { value: '1440', label: 'Last 24 hours' },
];

const levelChoices = [0, 20, 30, 40, 50].map((level) => ({
  value: String(level),
  label: level === 0 ? 'All levels' : level === 50 ? 'Errors only' : `${levelName(level)} and above`,
}));
