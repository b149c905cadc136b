import { type RefObject, useEffect, useState } from 'react';

/** From here on a page is scrolled, in pixels. */
const scrolledPx = 40;

/**
 * Whether someone reads the rows of this element: the pointer or the focus is in it, or the page is scrolled. Rows that move
 * meanwhile can't be read, and a click opens another one than was aimed at.
 */
export const useReading = (region: RefObject<HTMLElement | null>): boolean => {
  const [reading, setReading] = useState(false);
  useEffect(() => {
    const element = region.current;
    if (!element) return undefined;
    let isOver = false;
    const check = (): void =>
      setReading(isOver || element.contains(document.activeElement) || window.scrollY > scrolledPx);
    const onEnter = (): void => {
      isOver = true;
      check();
    };
    const onLeave = (): void => {
      isOver = false;
      check();
    };
    // The next focus is known only after the event.
    const onFocus = (): void => queueMicrotask(check);
    element.addEventListener('pointerenter', onEnter);
    element.addEventListener('pointerleave', onLeave);
    element.addEventListener('focusin', check);
    element.addEventListener('focusout', onFocus);
    window.addEventListener('scroll', check, { passive: true });
    check();
    return () => {
      element.removeEventListener('pointerenter', onEnter);
      element.removeEventListener('pointerleave', onLeave);
      element.removeEventListener('focusin', check);
      element.removeEventListener('focusout', onFocus);
      window.removeEventListener('scroll', check);
    };
  }, [region]);
  return reading;
};
