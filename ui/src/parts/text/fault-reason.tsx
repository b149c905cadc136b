import { useState } from 'react';
import { classNames } from './class-names.ts';
import './fault-reason.css';

/** How many characters are certain to be shown whole in two lines. */
const shortLength = 36;

/** Why a request failed: two lines at most, and the whole text on demand, by pointer, finger or key. */
export const FaultReason = ({ message }: { readonly message: string }) => {
  const [open, setOpen] = useState(false);
  const text = <span className={classNames('fault-reason', open && 'fault-reason-open')}>{message}</span>;
  if (message.length <= shortLength) return text;
  return (
    <button type="button" className="fault-reason-long" aria-expanded={open} onClick={() => setOpen(!open)}>
      {text}
    </button>
  );
};
