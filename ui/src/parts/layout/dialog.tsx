import { type ReactNode, useEffect, useId, useRef } from 'react';
import { IconButton } from '../controls/button.tsx';
import { classNames } from '../text/class-names.ts';
import './dialog.css';

/** A modal dialog. Its first field has the focus, or else its first button; closing it restores the focus. */
export const Dialog = ({
  title,
  onClose,
  children,
  actions,
  wide = false,
  closable = true,
}: {
  readonly title: string;
  /** Called on Escape, the close button, or a click outside. */
  readonly onClose: () => void;
  readonly children: ReactNode;
  /** Buttons, the main one last. */
  readonly actions?: ReactNode;
  readonly wide?: boolean;
  /** False: only its own actions close it. */
  readonly closable?: boolean;
}) => {
  const own = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const dialog = own.current;
    const before = document.activeElement;
    dialog?.showModal();
    const field = dialog?.querySelector('.dialog-content :is(input, select, textarea):enabled');
    if (field instanceof HTMLElement) field.focus();
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
      // The target is the dialog itself only outside its content. Keys have `onCancel`.
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
