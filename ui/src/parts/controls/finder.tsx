import { type KeyboardEvent, useId, useRef, useState } from 'react';
import { classNames } from '../class-names.ts';
import './combo-field.css';

/** Something that can be found and chosen. Kind and title tell it from others. */
export interface Finding {
  readonly kind?: string;
  readonly title: string;
  readonly note?: string | undefined;
}

/** Maximum number of entries. */
const mostShown = 40;

/** Finds one of many by a few letters; a click or Enter chooses it. Source of the keys: WAI-ARIA, "Combobox". */
export const Finder = <Choice extends Finding>({
  label,
  choices,
  typed,
  onChoose,
}: {
  readonly label: string;
  readonly choices: readonly Choice[];
  /** A choice that what is typed names by itself. */
  readonly typed?: (text: string) => Choice | undefined;
  readonly onChoose: (choice: Choice) => void;
}) => {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const [text, setText] = useState('');
  const [active, setActive] = useState(0);
  const listed = choices.filter((choice) => fits(choice, text)).slice(0, mostShown);
  const named = listed.length === 0 ? typed?.(text.trim()) : undefined;
  const found = named ? [named] : listed;
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const choice = found[active];
    if (event.key === 'Enter') choice && onChoose(choice);
    else if (step === undefined || found.length === 0) return;
    else {
      const next = (active + step + found.length) % found.length;
      setActive(next);
      list.current?.children.item(next)?.scrollIntoView({ block: 'nearest' });
    }
    event.preventDefault();
  };
  return (
    <>
      <input
        className="control"
        type="text"
        role="combobox"
        aria-label={label}
        placeholder={label}
        aria-expanded={found.length > 0}
        aria-controls={`${id}-list`}
        aria-activedescendant={found.length > 0 ? `${id}-${active}` : undefined}
        autoComplete="off"
        spellCheck={false}
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setActive(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div ref={list} id={`${id}-list`} className="finder-list" role="listbox" aria-label="Found">
        {found.map((choice, index) => (
          // The focus stays in the field, which handles the keys.
          <div
            key={`${choice.kind} ${choice.title}`}
            id={`${id}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === active}
            className={classNames('combo-option', index === active && 'combo-active')}
            onMouseDown={(event) => {
              event.preventDefault();
              onChoose(choice);
            }}
          >
            {choice.kind !== undefined && <span className="finder-kind soft small">{choice.kind}</span>}
            <span>{choice.title}</span>
            <span className="soft small">{choice.note}</span>
          </div>
        ))}
      </div>
      {found.length === 0 && <p className="soft">Nothing found</p>}
    </>
  );
};

/** Whether each word is found somewhere. */
const fits = ({ kind = '', title, note = '' }: Finding, text: string): boolean => {
  const where = `${kind} ${title} ${note}`.toLowerCase();
  return text
    .toLowerCase()
    .split(' ')
    .every((word) => where.includes(word));
};
