import { type KeyboardEvent, type PointerEvent, type ReactNode, useLayoutEffect, useRef, useState } from 'react';
import { kept } from '../../state/kept.ts';
import { classNames } from '../class-names.ts';
import './split.css';

/** The least and the greatest share of the right pane, and one step of an arrow key, in percent. */
const least = 25;
const greatest = 70;
const step = 2;

/**
 * Two panes: a list, and what is open of it. Their border is moved by the pointer or the arrow keys, and stays where it was left. On
 * pages below 1,000 px only the right pane is shown while something is open.
 */
export const Split = ({
  name,
  label,
  side,
  children,
}: {
  /** Under which the border's place is kept. */
  readonly name: string;
  /** The label of the right pane. */
  readonly label: string;
  /** The right pane; without one, the left has all the room. */
  readonly side: ReactNode;
  readonly children: ReactNode;
}) => {
  const place = kept('local', `split.${name}`);
  const [share, setShare] = useState(() => clamp(Number(place.read()) || 40));
  const frame = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => frame.current?.style.setProperty('--split', `${share}%`), [share]);
  const set = (next: number): void => {
    setShare(clamp(next));
    place.write(String(clamp(next)));
  };
  const onPointerMove = (event: PointerEvent): void => {
    const box = frame.current?.getBoundingClientRect();
    if (!box || !event.currentTarget.hasPointerCapture(event.pointerId)) return;
    set(((box.right - event.clientX) / box.width) * 100);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const by = { ArrowLeft: step, ArrowRight: -step }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    set(share + by);
  };
  const isOpen = side !== undefined && side !== null && side !== false;
  return (
    <div ref={frame} className={classNames('split', isOpen && 'split-open')}>
      <div className="split-main">{children}</div>
      {isOpen && (
        <>
          {/* biome-ignore lint/a11y/useSemanticElements: a rule can't be moved */}
          <div
            className="split-bar"
            role="separator"
            tabIndex={0}
            aria-orientation="vertical"
            aria-label={`Width of ${label}`}
            aria-valuemin={least}
            aria-valuemax={greatest}
            aria-valuenow={Math.round(share)}
            onPointerDown={(event) => {
              event.preventDefault();
              event.currentTarget.setPointerCapture(event.pointerId);
            }}
            onPointerMove={onPointerMove}
            onKeyDown={onKeyDown}
          />
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions need keyboard access */}
          <section className="split-side" aria-label={label} tabIndex={0}>
            {side}
          </section>
        </>
      )}
    </div>
  );
};

const clamp = (share: number): number => Math.min(greatest, Math.max(least, share));
