import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react';
import { count } from '../../format/figures.ts';
import { classNames } from '../class-names.ts';
import './combo-field.css';
import { Icon } from './button.tsx';
import { Field, type FieldFrame } from './field.tsx';

/** A suggestion. */
export interface ComboOption {
  readonly value: string;
  /** A note beside it. */
  readonly note?: string;
}

/** Maximum number of suggestions. */
const mostShown = 60;

/** A text field with suggestions; any other text is allowed. Source of the keys: WAI-ARIA Authoring Practices, "Combobox". */
export const ComboField = ({
  value,
  onChange,
  options,
  placeholder,
  onPick = onChange,
  onEnter,
  'data-path': path,
  ...frame
}: FieldFrame & {
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly options: readonly ComboOption[];
  readonly placeholder?: string;
  /** Called in place of `onChange` when a suggestion is taken. */
  readonly onPick?: (value: string) => void;
  /** Called on Enter while no suggestion is active. */
  readonly onEnter?: () => void;
  readonly 'data-path'?: string;
}) => {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  // Only text typed since the list was opened filters it.
  const [typed, setTyped] = useState<string>();
  const [isOpen, setOpen] = useState(false);
  const [active, setActive] = useState(-1);
  const needle = (typed ?? '').toLowerCase();
  const found = options.filter((option) => option.value.toLowerCase().includes(needle));
  const fitting = found.slice(0, mostShown);
  const shows = isOpen && fitting.length > 0;

  useEffect(() => {
    if (shows) list.current?.scrollIntoView({ block: 'nearest' });
  }, [shows]);

  const close = (): void => {
    setOpen(false);
    setTyped(undefined);
    setActive(-1);
  };
  const pick = (option: ComboOption): void => {
    onPick(option.value);
    close();
  };
  const go = (to: number): void => {
    setOpen(true);
    const next = (to + fitting.length) % Math.max(1, fitting.length);
    setActive(next);
    list.current?.children.item(next)?.scrollIntoView({ block: 'nearest' });
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.altKey) return;
    const option = shows ? fitting[active] : undefined;
    if (event.key === 'ArrowDown') go(shows ? active + 1 : 0);
    else if (event.key === 'ArrowUp') go(shows ? active - 1 : fitting.length - 1);
    else if (event.key === 'Escape' && shows) close();
    else if (event.key === 'Enter' && option) pick(option);
    else if (event.key === 'Enter' && onEnter) onEnter();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <Field {...frame}>
      {(names) => (
        <div className="combo">
          <input
            {...names}
            type="text"
            className="control"
            role="combobox"
            autoComplete="off"
            spellCheck={false}
            placeholder={placeholder}
            data-path={path}
            aria-expanded={shows}
            aria-controls={`${id}-list`}
            aria-autocomplete="list"
            aria-activedescendant={shows && active >= 0 ? `${id}-${active}` : undefined}
            value={value}
            onChange={(event) => {
              onChange(event.target.value);
              setTyped(event.target.value);
              setOpen(true);
              setActive(-1);
            }}
            onClick={() => setOpen(true)}
            onBlur={close}
            onKeyDown={onKeyDown}
          />
          <Icon name="down" />
          <div
            ref={list}
            id={`${id}-list`}
            className="combo-list"
            role="listbox"
            aria-label="Suggestions"
            hidden={!shows}
          >
            {fitting.map((option, index) => (
              // The focus stays in the field, which handles the keys.
              <div
                key={option.value}
                id={`${id}-${index}`}
                role="option"
                tabIndex={-1}
                aria-selected={option.value === value}
                className={classNames('combo-option', index === active && 'combo-active')}
                onMouseDown={(event) => {
                  event.preventDefault();
                  pick(option);
                }}
              >
                <span>{option.value}</span>
                {option.note !== undefined && <span className="soft small">{option.note}</span>}
              </div>
            ))}
            {found.length > mostShown && (
              <p className="combo-more soft small" role="presentation">
                {count(found.length - mostShown)} more: type to narrow the list.
              </p>
            )}
          </div>
        </div>
      )}
    </Field>
  );
};
