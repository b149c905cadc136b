import { type RefObject, useEffect, useState } from 'react';

/**
 * Whether someone reads the rows of this element: the pointer or the focus is in it, or it begins above the window. Rows that move
 * meanwhile can't be read, and a click opens another one than was aimed at.
 */
export const useReading = (region: RefObject<HTMLElement | null>): boolean => {
  const [reading, setReading] = useState(false);
  useEffect(() => {
    const element = region.current;
    if (!element) return undefined;
    let isOver = false;
    const check = (): void =>
      setReading(isOver || element.contains(document.activeElement) || element.getBoundingClientRect().top < 0);
    const onEnter = (): void => {
      isOver = true;
      check();
    };
    const onLeave = (): void => {
      isOver = false;
      check();
    };
    // What has the focus next is known only after the event.
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
