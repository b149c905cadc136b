import { count as formatCount } from '../../format/figures.ts';
import { Dot, type Tone } from '../text/badge.tsx';
import './filter-chips.css';

/** A filter that is on or off. */
interface FilterChip {
  readonly key: string;
  readonly label: string;
  /** Number of rows that it leaves. */
  readonly count?: number | undefined;
  /** The colour of its dot. */
  readonly tone?: Tone;
  readonly on: boolean;
}

/** Filters beside each other, with the count of what each leaves. */
export const FilterChips = ({
  label,
  chips,
  onToggle,
}: {
  readonly label: string;
  readonly chips: readonly FilterChip[];
  readonly onToggle: (key: string, on: boolean) => void;
}) => (
  <fieldset className="filter-chips">
    <legend className="unseen">{label}</legend>
    {chips.map(({ key, label: text, count, tone, on }) => (
      <button
        key={key}
        type="button"
        className="filter-chip"
        title={text}
        aria-pressed={on}
        onClick={() => onToggle(key, !on)}
      >
        {tone && <Dot tone={tone} />}
        <span className="cut">{text}</span>
        {count !== undefined && <span className="filter-chip-count">{formatCount(count)}</span>}
      </button>
    ))}
  </fieldset>
);
