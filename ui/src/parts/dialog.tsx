import { type ReactNode, useEffect, useId, useRef } from 'react';
import { IconButton } from './button.tsx';
import { classNames } from './class-names.ts';
import './dialog.css';

/** A dialog over the page. The rest of the page can't be used meanwhile; the focus comes back to where it was. */
export const Dialog = ({
  title,
  onClose,
  children,
  actions,
  wide = false,
  closable = true,
}: {
  readonly title: string;
  /** Escape, the cross, a click beside it. */
  readonly onClose: () => void;
  readonly children: ReactNode;
  /** Buttons, the main one last. */
  readonly actions?: ReactNode;
  readonly wide?: boolean;
  /** False: it can only be answered. */
  readonly closable?: boolean;
}) => {
  const own = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const dialog = own.current;
    const before = document.activeElement;
    dialog?.showModal();
    return () => {
      dialog?.close();
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={own}
      className={classNames('dialog', wide && 'dialog-wide')}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        if (closable) onClose();
      }}
      // The dialog itself is what lies around its content: a key can't be pressed on it.
      onMouseDown={(event) => {
        if (closable && event.target === own.current) onClose();
      }}
    >
      <div className="dialog-body">
        <header className="dialog-head">
          <h2 id={id}>{title}</h2>
          {closable && <IconButton icon="close" label="Close" onClick={onClose} />}
        </header>
        <div className="dialog-content">{children}</div>
        {actions && <footer className="dialog-actions">{actions}</footer>}
      </div>
    </dialog>
  );
};
