import { type KeyboardEvent, type ReactNode, useId, useRef } from 'react';
import './tabs.css';

/** One of several views of the same thing. */
interface Tab<T extends string> {
  readonly name: T;
  readonly title: ReactNode;
}

/** Shows one of several views. Arrow keys, Home and End move between the tabs. */
export const Tabs = <T extends string>({
  label,
  tabs,
  shown,
  onShow,
  children,
}: {
  readonly label: string;
  readonly tabs: readonly Tab<T>[];
  readonly shown: T;
  readonly onShow: (name: T) => void;
  /** The view that is shown. */
  readonly children: ReactNode;
}) => {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const onKeyDown = (event: KeyboardEvent): void => {
    const at = tabs.findIndex(({ name }) => name === shown);
    const to = target(event.key, at, tabs.length);
    const next = to === undefined ? undefined : tabs[to];
    if (!next) return;
    event.preventDefault();
    onShow(next.name);
    const button = list.current?.children.item(to ?? 0);
    if (button instanceof HTMLElement) button.focus();
  };
  return (
    <div className="stack">
      <div ref={list} className="tab-list" role="tablist" aria-label={label}>
        {tabs.map(({ name, title }) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`${id}-${name}`}
            className="tab"
            aria-selected={name === shown}
            aria-controls={`${id}-view`}
            tabIndex={name === shown ? 0 : -1}
            onClick={() => onShow(name)}
            onKeyDown={onKeyDown}
          >
            {title}
          </button>
        ))}
      </div>
      <div id={`${id}-view`} className="stack" role="tabpanel" aria-labelledby={`${id}-${shown}`}>
        {children}
      </div>
    </div>
  );
};

const target = (key: string, at: number, size: number): number | undefined => {
  if (key === 'ArrowRight') return (at + 1) % size;
  if (key === 'ArrowLeft') return (at - 1 + size) % size;
  if (key === 'Home') return 0;
  return key === 'End' ? size - 1 : undefined;
};
